public import FoundationEssentials
public import NIOCore

/// A possible place of an original of a title's poster, or of another image of the title.
@dynamicMemberLookup
public struct PosterCandidate: Sendable {
    public var location: OriginalLocation
    /// What the source says about the image: `candidate.width` is `candidate.facts.width`.
    public var facts: CandidateFacts
    /// The likelihood that a picture found by a search is the poster, from 0 to 1; `nil` if the source knows its poster. Candidates
    /// with a trust are fetched and compared before one of them is chosen.
    public var trust: Double?
    /// Whether a better one may be missing because a source could not be asked. Then the image is kept for minutes only.
    package var isProvisional = false

    public init(_ location: OriginalLocation, facts: CandidateFacts, trust: Double? = nil) {
        self.location = location
        self.facts = facts
        self.trust = trust
    }

    public init(
        _ location: OriginalLocation, width: Int? = nil, height: Int? = nil, site: String? = nil, page: String? = nil,
        published: Date? = nil, trust: Double? = nil
    ) {
        self.init(location, facts: CandidateFacts(), trust: trust)
        (self.width, self.height, self.site, self.page, self.published) = (width, height, site, page, published)
    }

    public subscript<Value>(dynamicMember fact: WritableKeyPath<CandidateFacts, Value>) -> Value {
        get { facts[keyPath: fact] }
        set { facts[keyPath: fact] = newValue }
    }

    /// Parses the publication time of a page: ISO 8601 with an offset, with or without fractions of a second. An unreadable date
    /// counts as absent: it does not make a picture worse.
    public static func moment(_ text: String) -> Date? {
        for fractions in [true, false] {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: fractions)
            do { return try style.parse(text) } catch { continue }
        }
        return nil
    }
}

/// The location of an original.
public enum OriginalLocation: Sendable {
    /// An `http` or `https` URL. The pipeline fetches it under the source's origin policy. The query is part of its identity.
    case http(url: String)
    /// Bytes of the source itself. `name` identifies the exact bytes; `bytes` reads or makes them, synchronously, on a thread of
    /// the source.
    case local(name: String, bytes: @Sendable () throws(SourceError) -> ByteBuffer)

    /// The former name of `local(name:bytes:)`.
    @available(*, deprecated, renamed: "local(name:bytes:)")
    public static func held(name: String, bytes: @escaping @Sendable () throws(SourceError) -> ByteBuffer) -> Self {
        .local(name: name, bytes: bytes)
    }

    /// A text that is unique to this original.
    public var name: String {
        switch self {
        case .http(let url): url
        case .local(let name, _): name
        }
    }
}
