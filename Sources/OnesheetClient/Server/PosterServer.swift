public import OnesheetValues

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A Onesheet server, as its clients see it: its JSON, and its prefetches.
///
/// ```swift
/// let server = PosterServer(at: "https://posters.example")
/// for title in try await server.titles(of: "boxoffice").titles { print(title.title.name) }
/// ```
///
/// Every request has a deadline, every answer a limit, and every error is a `ClientError`. Answers of newer servers may have more members,
/// which are ignored. For the addresses of images see `PosterAddresses`: they need no request.
public struct PosterServer: Sendable {
    /// The limits of requests and answers.
    public struct Limits: Sendable, Equatable {
        /// The longest time until an answer is complete. The server may ask its source meanwhile.
        public var timeout: Duration
        /// The longest time without a report of a prefetch.
        public var idleTimeout: Duration
        /// The most bytes of an answer, and of one report of a prefetch.
        public var answerBytes: Int

        public init(timeout: Duration = .seconds(30), idleTimeout: Duration = .seconds(300), answerBytes: Int = 8 << 20) {
            self.timeout = timeout
            self.idleTimeout = idleTimeout
            self.answerBytes = answerBytes
        }
    }

    /// The URL of the server, without a slash at its end.
    public let url: String
    let limits: Limits
    private let token: String?
    private let transport: any Transport

    /// - Parameters:
    ///   - url: the URL of the server, such as `https://posters.example`, with the path prefix of a proxy if there is one.
    ///   - token: the administrator's token (configuration: `admin.token`), which prefetches need. It does not belong into an app that
    ///     others get.
    ///   - transport: sends the requests.
    public init(
        at url: String, token: String? = nil, limits: Limits = Limits(), transport: any Transport = URLSessionTransport()
    ) {
        var url = url[...]
        while url.last == "/" { url.removeLast() }
        self.url = String(url)
        self.token = token
        self.limits = limits
        self.transport = transport
    }

    /// The sources, with their health and capabilities.
    public func sources() async throws(ClientError) -> [ListedSource] {
        try await document(SourcesDocument.self, "/sources").sources
    }

    /// A page of a source's titles.
    /// - Parameter query: the day, the period, the words to search for, and the page; by default the newest list.
    public func titles(of source: String, _ query: TitleQuery = TitleQuery()) async throws(ClientError) -> TitleList {
        let parameters = PercentEncoding.query([
            "date": query.date?.description, "period": query.period == .day ? nil : query.period.rawValue, "query": query.phrase,
            "page": query.page == 1 ? nil : "\(query.page)",
        ])
        return try await document(
            TitleList.self, "\(Self.titles(of: source))" + (parameters.isEmpty ? "" : "?\(parameters)"))
    }

    /// One title.
    public func title(_ title: TitleReference) async throws(ClientError) -> ListedTitle {
        try await document(ListedTitle.self, Self.path(of: title))
    }

    /// The candidates for a title's poster, or for another image of it, best first. The server may search for them.
    public func candidates(
        for title: TitleReference, _ selector: ImageSelector = .poster
    ) async throws(ClientError) -> PosterCandidates {
        let query = selector == .poster ? "" : "?image=\(selector)"
        return try await document(PosterCandidates.self, "\(Self.path(of: title))/posters\(query)")
    }

    /// Explains the address of an image.
    /// - Parameters:
    ///   - address: a path, a whole URL, or `source://id`.
    ///   - accept: the `Accept` field with which the image would be requested.
    ///   - fetches: whether to make the image if the cache does not have it.
    public func explain(
        _ address: String, accept: String? = nil, fetches: Bool = false
    ) async throws(ClientError) -> Explanation {
        let query = PercentEncoding.query(["url": address, "accept": accept ?? "*/*", "fetch": fetches ? "" : nil])
        return try await document(Explanation.self, "/explain?\(query)")
    }

    /// The addresses of a title's poster with options, in each grammar that the server knows. With the administrator's token they are
    /// signed.
    public func addresses(
        of title: TitleReference, options: String, format: ImageFormat? = nil
    ) async throws(ClientError) -> TransformAddresses {
        let query = PercentEncoding.query([
            "of": title.description, "options": options, "format": format?.extensions.first,
        ])
        return try await document(TransformAddresses.self, "/addresses?\(query)")
    }

    /// Makes variants ahead, with reports of the progress. Nothing is sent before the first iteration. Needs the administrator's token.
    public func prefetch(_ order: PrefetchOrder) -> PrefetchRun { PrefetchRun(server: self, order: order) }

    /// The predicted cost of a prefetch; it makes nothing. Needs the administrator's token.
    public func cost(of order: PrefetchOrder) async throws(ClientError) -> PrefetchCost {
        try await whole(try request("POST", "/prefetch", body: DryRun(order: order))).decode(PrefetchCost.self)
    }

    /// The prefetches that run, and the last ones that have ended, newest first. Needs the administrator's token.
    public func prefetches() async throws(ClientError) -> [PrefetchJob] {
        try await document(PrefetchJobsDocument.self, "/prefetch").jobs
    }

    /// Stops a prefetch and keeps the finished variants. Needs the administrator's token.
    /// - Parameter number: that of its `PrefetchJob`.
    public func stopPrefetch(_ number: Int) async throws(ClientError) -> PrefetchJob {
        try await whole(try request("DELETE", "/prefetch/\(number)")).decode(PrefetchJob.self)
    }

    private struct DryRun: Encodable {
        let order: PrefetchOrder
        private enum CodingKeys: CodingKey { case dryRun }

        func encode(to encoder: any Encoder) throws {
            try order.encode(to: encoder)
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(true, forKey: .dryRun)
        }
    }
}

extension PosterServer {
    private static func titles(of source: String) -> String { "/sources/\(PercentEncoding.encode(source))/titles" }
    private static func path(of title: TitleReference) -> String {
        "\(titles(of: title.source))/\(PercentEncoding.encode(title.id))"
    }

    /// A request with the administrator's token, if there is one.
    func request(
        _ method: String, _ path: String, accept: String = "application/json", body: (any Encodable)? = nil
    ) throws(ClientError) -> TransportRequest {
        var fields = ["Accept": accept]
        if let token { fields["Authorization"] = "Bearer \(token)" }
        var bytes: [UInt8]?
        if let body {
            fields["Content-Type"] = "application/json"
            do { bytes = Array(try JSONEncoder().encode(body)) } catch { throw .unreadable("the order is not JSON: \(error)") }
        }
        return TransportRequest(method: method, url: url + path, fields: fields, body: bytes)
    }

    private func document<Document: Decodable>(_ type: Document.Type, _ path: String) async throws(ClientError) -> Document {
        try await whole(try request("GET", path)).decode(type)
    }

    private func whole(_ request: TransportRequest) async throws(ClientError) -> Answer {
        let collector = AnswerCollector(limit: limits.answerBytes)
        let deadline = Deadline(limits.timeout)
        try await deadline.limit { [transport] in
            try await transport.send(request) { part throws(ClientError) in try collector.add(part) }
        }
        return try collector.answer()
    }

    /// Sends a request whose answer may last, as long as something arrives within `wait`.
    func exchange(
        _ request: TransportRequest, wait: Duration, _ receive: @escaping @Sendable (TransportPart) throws(ClientError) -> Void
    ) async throws(ClientError) {
        let deadline = Deadline(wait)
        try await deadline.limit { [transport] in
            try await transport.send(request) { part throws(ClientError) in
                deadline.renew()
                try receive(part)
            }
        }
    }
}

/// Without the token.
extension PosterServer: CustomStringConvertible, CustomReflectable {
    public var description: String { url }
    public var customMirror: Mirror { Mirror(self, children: ["url": url, "limits": limits]) }
}
