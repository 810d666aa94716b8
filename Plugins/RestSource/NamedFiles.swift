internal import OnesheetCore

/// Images that a service names by a path: `files: "https://images.example{file}"`, or with the forms of its paths.
struct NamedFiles: Sendable, Decodable {
    /// The URL of an image. The variable `file` is its path.
    let url: Phrase
    /// The forms of paths; `nil` for the name of a file behind a slash: `/abc123.jpg`.
    private let forms: [IDForm]?

    private static let longest = 256

    private enum CodingKeys: String, CodingKey {
        case url
        case forms = "ids"
    }

    init(from decoder: any Decoder) throws {
        guard case .mapping = try ConfigurationValue(from: decoder) else {
            (url, forms) = (try Phrase(from: decoder), nil)
            return
        }
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        url = try keys.decode(Phrase.self, forKey: .url)
        forms = try keys.decode([IDForm].self, forKey: .forms)
    }

    /// Whether an id is the path of a file. Requests for it have the headers of the source, so no other path may be one.
    func has(_ id: String) -> Bool {
        guard id.utf8.count <= Self.longest, id.utf8.first == UInt8(ascii: "/") else { return false }
        if let forms { return forms.contains { $0.values(of: id) != nil } }
        guard let (name, end) = id.dropFirst(bytes: 1).cut(atLast: ".") else { return false }
        func isWord(_ text: Substring) -> Bool {
            (1...64).contains(text.utf8.count)
                && text.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || "-_".utf8.contains($0)
                }
        }
        return isWord(name) && isWord(end)
    }
}
