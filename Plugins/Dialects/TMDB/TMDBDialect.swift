import OnesheetAddress
public import OnesheetCore

/// The addresses of TMDB, for clients in which only the host is changed: pictures at `/t/p/{size}/{file}` and the questions of its API
/// below `/3/`. The source `tmdb` has the service and its key.
public struct TMDBDialect: Dialect {
    public static let name = "tmdb"
    public static let prefix = "/t/p/"
    public static let documents: String? = "/3/"
    public let source: String? = "tmdb"
    private static let type = "application/json;charset=utf-8"

    public init(_ configuration: NoConfiguration = NoConfiguration()) {}

    /// A picture by its size and the path of its file. One original serves all sizes and formats.
    ///
    /// TMDB's images have no signatures, so every server has its usual sizes. Other sizes need one that takes unsigned transforms.
    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        guard let (size, file) = MergedSlashes.merged(in: address).cut(at: "/"), let picture = TMDBFile(file) else {
            throw .noSuchPath(Self.prefix + address)
        }
        let read = try TMDBSize(try PercentEncoding.decode(size))
        if !read.isUsual { try server.requireUnsigned() }
        let title = try server.title("tmdb://\(picture.original)")
        // The original's bytes are served as they are, unless the file has another format than its original.
        let format = read.options.isEmpty && !picture.isConverted ? [] : ["format:\(picture.format)"]
        var image = DialectImage(title: title, options: read.options + format, isShared: true)
        image.isSize = read.isUsual
        return image
    }

    public func document(
        at address: Substring, on server: any DialectServer, from host: DialectHost
    ) async throws -> DialectDocument {
        // Some clients ask this to try their key. This server takes every key, and needs none.
        if (address.cut(at: "?")?.before ?? address) == "authentication" {
            return .written(
                "{\"success\":true,\"status_code\":1,\"status_message\":\"Success.\"}", type: Self.type)
        }
        let answer = try await host.answer(from: "tmdb", to: try Self.question(address))
        return .written(answer.document, type: Self.type, status: answer.status, fresh: answer.fresh)
    }

    private static func question(_ address: Substring) throws(RequestError) -> ServiceQuestion {
        let question = try TMDBQuestion(address)
        return ServiceQuestion(question.target, images: images(in:)) { document, now in
            TMDBFreshness.seconds(of: document, at: question.path, now)
        }
    }

    /// The images of a title or person, by the keys of their files.
    private static let images: [(key: String, kind: ImageKind)] = [
        ("poster_path", .poster), ("backdrop_path", .backdrop), ("still_path", .still), ("profile_path", .profile),
    ]

    private static func images(in document: JSONValue) -> [ServiceImage] {
        guard case .object(let members) = document else { return [] }
        return images.compactMap { key, kind in
            guard case .string(let path)? = members[key], path.utf8.first == UInt8(ascii: "/") else { return nil }
            return TMDBFile(path.dropFirst(bytes: 1)).map { ServiceImage(kind, id: $0.original) }
        }
    }

    public func questions(about subject: ServiceSubject, with query: String) throws(RequestError) -> [ServiceQuestion] {
        let addresses = TMDBAddresses.of(subject, with: query)
        // Without an address, the query is checked all the same.
        if addresses.isEmpty { _ = try TMDBQuestion("movie?\(query)") }
        var questions: [ServiceQuestion] = []
        for address in addresses { questions.append(try Self.question(address[...])) }
        return questions
    }

    /// Error codes of TMDB (<https://developer.themoviedb.org/docs/errors>) by status.
    private static let codes = [400: 18, 401: 7, 403: 3, 404: 34, 405: 42, 429: 25, 500: 11, 502: 43, 503: 9, 504: 24]

    public static func errorDocument(status: Int, detail: String) -> (any Encodable & Sendable)? {
        ErrorDocument(code: codes[status] ?? (status < 500 ? 5 : 11), message: detail)
    }

    private struct ErrorDocument: Encodable {
        let success = false
        let code: Int
        let message: String

        private enum CodingKeys: String, CodingKey {
            case success
            case code = "status_code"
            case message = "status_message"
        }
    }
}

/// The file of a picture: `abc123.jpg`.
private struct TMDBFile {
    /// The path of the original: `/abc123.jpg`.
    let original: String
    /// The format in which the file is served, by its extension.
    let format: String
    /// Whether the file has another format than its original.
    let isConverted: Bool

    /// By the extension of a file: that of its original, and the format in which it is served. TMDB makes a PNG of each uploaded SVG, under
    /// the same name. This server reads no SVG and serves that PNG.
    private static let formats = [
        "jpg": ("jpg", "jpg"), "jpeg": ("jpg", "jpg"), "png": ("png", "png"), "svg": ("png", "png"), "webp": ("jpg", "webp"),
    ]

    /// - Returns: `nil` if TMDB has no files of such a name.
    init?(_ file: Substring) {
        guard let (name, end) = file.cut(atLast: "."), let (original, format) = Self.formats[String(end)],
            (1...64).contains(name.utf8.count),
            name.utf8.allSatisfy({
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || "-_".utf8.contains($0)
            })
        else { return nil }
        self.original = "/\(name).\(original)"
        self.format = format
        isConverted = end == "webp"
    }
}
