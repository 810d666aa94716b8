import OnesheetCore

/// The parameters of a URL's query that identify the picture: `all`, `none`, or a list of names.
public enum CountedQuery: Sendable, Equatable {
    /// The whole query, unchanged.
    case all
    case none
    /// Parameters with these names, in the order of the list; the first of several with one name. Names and values are compared as
    /// bytes, including escapes.
    case names([String])

    /// The URL with the identifying part of its query.
    func text(of url: WebURL) -> String {
        let whole = url.description
        guard let query = url.query, self != .all else { return whole }
        let bare = String(decoding: whole.utf8.dropLast(query.utf8.count + 1), as: UTF8.self)
        guard case .names(let names) = self else { return bare }
        var first: [[UInt8]: Substring.UTF8View] = [:]
        for parameter in Substring(query).utf8.split(separator: UInt8(ascii: "&")) {
            let name = Array(parameter.prefix { $0 != UInt8(ascii: "=") })
            if first[name] == nil { first[name] = parameter }
        }
        let counted = names.compactMap { first[Array($0.utf8)].map { String(decoding: $0, as: UTF8.self) } }
        return counted.isEmpty ? bare : "\(bare)?\(counted.joined(separator: "&"))"
    }
}

extension CountedQuery: Decodable {
    public init(from decoder: any Decoder) throws {
        switch try ConfigurationValue(from: decoder) {
        case .scalar("all"): self = .all
        case .scalar("none"): self = .none
        case .list(let values):
            var names: [String] = []
            for value in values {
                guard case .scalar(let name) = value, !name.isEmpty,
                    name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !"&=#".utf8.contains($0) })
                else {
                    throw Self.error(decoder, "needs names of parameters as spelled in a URL, such as [w, h]")
                }
                names.append(name)
            }
            self = .names(names)
        default:
            throw Self.error(decoder, "needs all, none, or a list of parameters such as [w, h]")
        }
    }

    private static func error(_ decoder: any Decoder, _ message: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: message))
    }
}
