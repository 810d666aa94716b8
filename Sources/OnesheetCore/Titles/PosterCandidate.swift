public import FoundationEssentials
public import NIOCore

/// A place where a title's original poster may be.
public struct PosterCandidate: Sendable {
    public var location: OriginalLocation
    /// Pixels, as the source says; the bytes may say otherwise.
    public var width: Int?
    public var height: Int?
    /// The name of the site that shows it.
    public var site: String?
    /// The page that shows it.
    public var page: String?
    public var published: Date?
    /// How far the place is to be trusted with showing the poster, from 0 to 1, where a search found the picture; `nil` where the
    /// source knows that it is the poster. Candidates with a trust are looked at before one of them is chosen.
    public var trust: Double?

    public init(
        _ location: OriginalLocation, width: Int? = nil, height: Int? = nil, site: String? = nil, page: String? = nil,
        published: Date? = nil, trust: Double? = nil
    ) {
        self.location = location
        self.width = width
        self.height = height
        self.site = site
        self.page = page
        self.published = published
        self.trust = trust
    }

    /// Reads when a page was published: ISO 8601 with an offset, with or without fractions of a second. What cannot be read is
    /// absent: a picture is not worse for an unreadable date.
    public static func moment(_ text: String) -> Date? {
        for fractions in [true, false] {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: fractions)
            do { return try style.parse(text) } catch { continue }
        }
        return nil
    }
}

/// Where an original is.
public enum OriginalLocation: Sendable {
    /// At an `http` or `https` URL; the pipeline fetches it under the source's origin policy. The query is part of its identity.
    case http(url: String)
    /// The source has it. `name` identifies the exact bytes; `bytes` reads or makes them, synchronously, on a thread of the source.
    case local(name: String, bytes: @Sendable () throws(SourceError) -> ByteBuffer)

    /// The former name of `local(name:bytes:)`.
    @available(*, deprecated, renamed: "local(name:bytes:)")
    public static func held(name: String, bytes: @escaping @Sendable () throws(SourceError) -> ByteBuffer) -> Self {
        .local(name: name, bytes: bytes)
    }

    /// The text that tells this original from others.
    public var name: String {
        switch self {
        case .http(let url): url
        case .local(let name, _): name
        }
    }
}
