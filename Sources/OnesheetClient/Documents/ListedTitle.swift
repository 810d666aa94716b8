public import OnesheetValues

/// A title with the addresses of its poster.
public struct ListedTitle: Sendable, Equatable, Decodable {
    /// The title as its source reports it.
    public let title: Title
    /// The paths of the poster on the server, by the name of the size: `w342`, `original`.
    public let posters: [String: String]
    /// `nil` until the server has made the poster in any size.
    public let poster: PosterPlaceholder?

    private enum CodingKeys: CodingKey { case posters, poster }

    public init(from decoder: any Decoder) throws {
        title = try Title(from: decoder)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        posters = try members.decodeIfPresent([String: String].self, forKey: .posters) ?? [:]
        poster = try members.decodeIfPresent(PosterPlaceholder.self, forKey: .poster)
    }
}

/// One page of a list of titles (`GET /sources/{source}/titles`).
public struct TitleList: Sendable, Equatable, Decodable {
    /// The titles of the page, in the order of the source.
    public let titles: [ListedTitle]
    /// The number of titles on all pages, if the source reports it.
    public let total: Int?
    /// The number of the next page, if there is one.
    public let next: Int?
}

/// The facts with which an app shows a place for a poster before it has loaded.
public struct PosterPlaceholder: Sendable, Equatable, Decodable {
    /// Pixels.
    public struct Size: Sendable, Hashable, Decodable {
        /// Pixels.
        public let width: Int
        public let height: Int
    }

    /// Pixels of the original.
    public let width: Int
    public let height: Int
    /// A ThumbHash in base64; `thumbHash` decodes it.
    public let thumbHashText: String?
    /// The main colour as `#rrggbb`; `color` decodes it.
    public let colorText: String?
    /// The pixels of each size, by its name.
    public let sizes: [String: Size]?

    /// The blurred picture; its `pixels` are ready to be shown.
    public var thumbHash: ThumbHash? { thumbHashText.flatMap(ThumbHash.init(base64:)) }
    /// The main colour.
    public var color: Color? { colorText.flatMap(Color.init(hexadecimal:)) }

    private enum CodingKeys: String, CodingKey {
        case width, height, sizes
        case thumbHashText = "thumbHash"
        case colorText = "color"
    }
}
