public import FoundationEssentials

/// The origin of an entry's bytes.
public struct Provenance: Sendable, Equatable {
    /// The URL of the original, or its name within its source.
    public var location: String?
    /// The page on which a search found the original.
    public var page: String?
    /// The site of that page.
    public var site: String?
    /// The time of the last request to the origin; `nil` if the original did not come over HTTP.
    public var askedAt: Date?
    /// For a variant, the validator of its original.
    public var original: String?
    /// The title of another source that has the original, as a source URL (`CandidateFacts.source`).
    public var source: String?

    public init(
        location: String? = nil, page: String? = nil, site: String? = nil, askedAt: Date? = nil, original: String? = nil,
        source: String? = nil
    ) {
        self.location = location
        self.page = page
        self.site = site
        self.askedAt = askedAt
        self.original = original
        self.source = source
    }
}

/// The look of the picture in an entry, known without its bytes.
public struct Presentation: Sendable, Equatable {
    /// Pixels after orientation.
    public var width: Int?
    public var height: Int?
    /// The main colour.
    public var color: Color?
    /// The ThumbHash in base64.
    public var thumbHash: String?
    /// The perceptual hash, which recognises copies of a picture.
    public var perceptualHash: UInt64?

    public init(
        width: Int? = nil, height: Int? = nil, color: Color? = nil, thumbHash: String? = nil, perceptualHash: UInt64? = nil
    ) {
        self.width = width
        self.height = height
        self.color = color
        self.thumbHash = thumbHash
        self.perceptualHash = perceptualHash
    }
}
