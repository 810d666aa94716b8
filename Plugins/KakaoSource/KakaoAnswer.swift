public import FoundationEssentials
internal import OnesheetCore

/// An answer of Kakao's (Daum's) image search.
/// Documented at <https://developers.kakao.com/docs/latest/en/daum-search/dev-guide#search-image>.
public struct KakaoAnswer: Sendable, Equatable, Decodable {
    public struct Meta: Sendable, Equatable, Decodable {
        /// Pictures found.
        public var totalCount: Int
        /// Pictures that pages can show.
        public var pageableCount: Int
        /// Whether this page is the last.
        public var isEnd: Bool

        private enum CodingKeys: String, CodingKey {
            case totalCount = "total_count"
            case pageableCount = "pageable_count"
            case isEnd = "is_end"
        }
    }

    public var meta: Meta
    public var documents: [KakaoDocument]
}

/// One picture that the search found.
public struct KakaoDocument: Sendable, Equatable {
    /// Where Kakao found it: `news`, `blog`, `cafe`, `etc`.
    public var collection: String
    public var thumbnailURL: String?
    /// As sent: plain http, without an extension or with a query that matters, all of it occurs.
    public var imageURL: String
    /// Pixels, as Kakao says; `nil` where it says 0 or nothing.
    public var width: Int?
    public var height: Int?
    /// The name of the site that shows the picture.
    public var siteName: String?
    /// The page that shows the picture.
    public var pageURL: String?
    /// When that page was written.
    public var published: Date?
}

extension KakaoDocument: Decodable {
    private enum CodingKeys: String, CodingKey {
        case collection, width, height, datetime
        case thumbnailURL = "thumbnail_url"
        case imageURL = "image_url"
        case siteName = "display_sitename"
        case pageURL = "doc_url"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? {
            try container.decodeIfPresent(String.self, forKey: key).flatMap { $0.isEmpty ? nil : $0 }
        }
        func pixels(_ key: CodingKeys) throws -> Int? {
            try container.decodeIfPresent(Int.self, forKey: key).flatMap { $0 > 0 ? $0 : nil }
        }
        imageURL = try container.decode(String.self, forKey: .imageURL)
        collection = try text(.collection) ?? "etc"
        thumbnailURL = try text(.thumbnailURL)
        width = try pixels(.width)
        height = try pixels(.height)
        siteName = try text(.siteName)
        pageURL = try text(.pageURL)
        published = try text(.datetime).flatMap(PosterCandidate.moment)
    }
}

/// What Kakao says instead of an answer.
struct KakaoFault: Sendable, Equatable {
    /// Kakao's number: −401 a bad key, −10 the day's quota is used up.
    var code: Int
    var message: String
}

extension KakaoFault: Decodable {
    // The gateway in front of the search says the same under other names.
    private enum CodingKeys: String, CodingKey { case code, msg, errorType, message }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        message =
            try container.decodeIfPresent(String.self, forKey: .msg) ?? container.decodeIfPresent(String.self, forKey: .message)
            ?? "no message"
        if let code = try container.decodeIfPresent(Int.self, forKey: .code) {
            self.code = code
        } else {
            _ = try container.decode(String.self, forKey: .errorType)
            code = 0
        }
    }
}
