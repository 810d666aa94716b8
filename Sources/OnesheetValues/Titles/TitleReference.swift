/// Names one title of one source. Written as a URL whose scheme is the source's configured name: `boxoffice://20124079`.
///
/// Names are compared by their bytes, as origins and disks do: an `é` of one character and an `é` of two are different titles.
public struct TitleReference: Hashable, Sendable, CustomStringConvertible {
    /// The name of the source in the configuration.
    public let source: String
    /// The id of the title within its source.
    public let id: String

    public init(source: String, id: String) {
        self.source = source
        self.id = id
    }

    /// Reads what `description` has written.
    package init?(written text: String) {
        guard let end = text.firstRange(ofBytesOf: "://") else { return nil }
        self.init(source: String(text[..<end.lowerBound]), id: String(text[end.upperBound...]))
    }

    public var description: String { "\(source)://\(id)" }

    public static func == (left: Self, right: Self) -> Bool {
        left.id.isExactly(right.id) && left.source.isExactly(right.source)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(exactly: source)
        hasher.combine(exactly: id)
    }

    /// Whether `name` is a valid source name: a URL scheme (RFC 3986 §3.1) in lower case.
    public static func isSourceName(_ name: some StringProtocol) -> Bool {
        guard let first = name.utf8.first, (0x61...0x7A).contains(first) else { return false }
        return name.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+")
                || $0 == UInt8(ascii: ".")
        }
    }
}
