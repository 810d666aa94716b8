internal import OnesheetCore
internal import Synchronization

/// The names of objects with the images of titles: `poster/{id}.jpg`.
struct KeyPattern: Sendable, Decodable {
    let prefix: String
    let suffix: String

    static let usual = KeyPattern(prefix: "", suffix: ".jpg")

    private init(prefix: String, suffix: String) {
        self.prefix = prefix
        self.suffix = suffix
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let mark = text.firstRange(ofBytesOf: "{id}"), case let suffix = text[mark.upperBound...],
            !suffix.contains(mark: "{"), !text[..<mark.lowerBound].contains(mark: "{")
        else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” needs {id} once, as in poster/{id}.jpg")
        }
        self.init(prefix: String(text[..<mark.lowerBound]), suffix: String(suffix))
    }

    var text: String { "\(prefix){id}\(suffix)" }

    /// The name of the object of a title; `nil` if no object can have it.
    func name(of id: String) -> String? {
        let name = prefix + id + suffix
        return !id.isEmpty && S3Address.isObjectName(name) ? name : nil
    }

    /// The title of an object; `nil` if it has none.
    func id(of name: String) -> String? {
        guard name.starts(withBytesOf: prefix), name.ends(withBytesOf: suffix),
            name.utf8.count > prefix.utf8.count + suffix.utf8.count
        else { return nil }
        let id = String(decoding: name.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count), as: UTF8.self)
        return self.name(of: id).map { _ in id }
    }
}

/// The names behind which the pages of a list begin.
final class ListedPages: Sendable {
    /// The last page that is listed.
    static let last = 1000

    private let names = Mutex<[Int: String]>([:])

    /// The last known page up to `page`, and the name before it.
    func nearest(to page: Int) -> (page: Int, after: String?) {
        names.withLock { names in
            let known = names.keys.filter { $0 <= page }.max()
            return known.map { ($0, names[$0]) } ?? (1, nil)
        }
    }

    func note(_ page: Int, after name: String?) { names.withLock { $0[page] = name } }
}
