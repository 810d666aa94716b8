public import FoundationEssentials
internal import OnesheetCore

/// A response of the image search of Kakao (Daum).
/// Documented at <https://developers.kakao.com/docs/latest/en/daum-search/dev-guide#search-image>.
public struct KakaoAnswer: Sendable, Equatable, Decodable {
    /// The results on this page, best first.
    public var documents: [KakaoDocument]
    /// Why results are missing: one reason for each that cannot be read.
    public var damage: [String] = []
}

extension KakaoAnswer {
    private enum CodingKeys: CodingKey { case documents }

    public init(from decoder: any Decoder) throws {
        let answer = try decoder.container(keyedBy: CodingKeys.self)
        (documents, damage) = try answer.decode(ReadableList<KakaoDocument>.self, forKey: .documents).parts
    }
}

/// One search result.
public struct KakaoDocument: Sendable, Equatable {
    /// The kind of site: `news`, `blog`, `cafe`, `etc`.
    public var collection: String
    /// A small copy of the picture at Kakao.
    public var thumbnailURL: String?
    /// Unchanged. It may have plain http, no extension, or a query that matters.
    public var imageURL: String
    /// Pixels according to Kakao; `nil` if it says 0 or nothing.
    public var width: Int?
    public var height: Int?
    /// The name of the site that shows the picture.
    public var siteName: String?
    /// The page that shows the picture.
    public var pageURL: String?
    /// The publication time of that page.
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

/// An error of Kakao in place of a response.
struct KakaoFault: Sendable, Equatable {
    /// Kakao's code: −401 is a bad key, −10 an exhausted daily quota.
    var code: Int
    var message: String
}

extension KakaoFault: Decodable {
    // The gateway in front of the search uses other names.
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
