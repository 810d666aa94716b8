internal import OnesheetCore

/// The lists of the candidates: one, or some by kind, `{ poster: /posters, logo: [/hdlogos, /logos] }`. If there are several, a list that
/// the response does not have is empty.
struct CandidateLists: Sendable, Decodable {
    private let lists: [(kind: ImageKind, items: Items)]

    init(from decoder: any Decoder) throws {
        switch try ConfigurationValue(from: decoder) {
        case .mapping(let keys) where keys["at"] == nil:
            let container = try decoder.container(keyedBy: ImageKind.self)
            var lists: [(kind: ImageKind, items: Items)] = []
            for kind in ImageKind.allCases {
                let items = try container.decodeIfPresent(OneOrMore<Items>.self, forKey: kind)
                lists += (items?.all ?? []).map { (kind, $0) }
            }
            guard !lists.isEmpty else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "needs the place of a list, or one by image kind"))
            }
            self.lists = lists
        default: lists = [(.poster, try Items(from: decoder))]
        }
    }

    /// The places in words, for the log.
    var text: String { lists.map(\.items.at.text).joined(separator: ", ") }

    /// What `read` makes of the members of all lists.
    /// - Throws: `SourceError.malformedAnswer` if there is none of the lists and one is expected, or if none of the members can be read.
    func read<Element>(
        in document: JSONValue, _ facts: Facts, warn: ([String]) -> Void,
        _ read: (JSONValue, ImageKind) throws(SourceError) -> Element?
    ) throws(SourceError) -> [Element] {
        let present = lists.count == 1 ? lists : lists.filter { $0.items.isPresent(in: document, facts) }
        guard !present.isEmpty || lists.contains(where: \.items.isOptional) else {
            throw .malformedAnswer(reason: "there is no list at any of \(text) in the service's answer")
        }
        var elements: [Element] = []
        for (kind, items) in present {
            elements += try items.read(in: document, facts, warn: warn) { member throws(SourceError) in try read(member, kind) }
        }
        return elements
    }
}
