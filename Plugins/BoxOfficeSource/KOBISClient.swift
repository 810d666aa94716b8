internal import NIOCore
internal import OnesheetCore

/// A client for KOBIS, the box office of the Korean Film Council.
struct KOBISClient: Sendable {
    static let koreaStandardTime = 9 * 3600

    let context: PluginContext
    let key: String
    let baseURL: String
    let policy: OriginPolicy
    let quota: DailyQuota

    init(context: PluginContext, key: String, baseURL: String, policy: OriginPolicy, quota: QuotaSettings) {
        self.context = context
        self.key = key
        self.baseURL = baseURL
        self.policy = policy
        self.quota = DailyQuota(quota, name: "kobis", secondsFromGMT: Self.koreaStandardTime, context: context)
    }

    /// The newest day with a list: yesterday in Seoul.
    var newestDay: CalendarDay {
        CalendarDay(context.clock.now, secondsFromGMT: Self.koreaStandardTime).adding(days: -1)
    }

    func daily(_ day: CalendarDay) async throws(SourceError) -> BoxOfficeList {
        try await list(from: "boxoffice/searchDailyBoxOfficeList.json", with: ["targetDt": day.compact])
    }

    /// - Parameter period: the days of the week of `day` to list.
    func weekly(_ day: CalendarDay, _ period: TitleQuery.Period) async throws(SourceError) -> BoxOfficeList {
        let weekGb =
            switch period {
            case .day, .week: "0"
            case .weekend: "1"
            case .weekdays: "2"
            }
        return try await list(
            from: "boxoffice/searchWeeklyBoxOfficeList.json", with: ["targetDt": day.compact, "weekGb": weekGb])
    }

    private func list(
        from endpoint: String, with parameters: KeyValuePairs<String, String?>
    ) async throws(SourceError) -> BoxOfficeList {
        let list = try await answer(BoxOfficeListEnvelope.self, from: endpoint, with: parameters).boxOfficeResult
        context.warn(ofMissing: list.damage, in: "the list of KOBIS")
        return list
    }

    /// `nil` if there is no such film.
    func info(_ code: String) async throws(SourceError) -> MovieInfo? {
        try await answer(MovieInfoEnvelope.self, from: "movie/searchMovieInfo.json", with: ["movieCd": code]).movieInfoResult
            .movieInfo
    }

    /// Films whose name contains `phrase`.
    func search(_ phrase: String, page: Int, perPage: Int) async throws(SourceError) -> (movies: [MovieListing], total: Int) {
        let result = try await answer(
            MovieListEnvelope.self, from: "movie/searchMovieList.json",
            with: ["movieNm": phrase, "curPage": String(page), "itemPerPage": String(perPage)]
        ).movieListResult
        context.warn(ofMissing: result.damage, in: "the search of KOBIS")
        return (result.movies, result.total)
    }

    private func answer<Answer: Decodable>(
        _ type: Answer.Type, from endpoint: String, with parameters: KeyValuePairs<String, String?>
    ) async throws(SourceError) -> Answer {
        try await quota.spend()
        let query = PercentEncoding.query(["key": key]) + "&" + PercentEncoding.query(parameters)
        let answer = try await context.get(HTTPRequest(url: "\(baseURL)/\(endpoint)?\(query)"), under: policy)
        if let fault = Self.fault(in: answer.body) { throw await error(for: fault) }
        guard answer.isSuccess else {
            throw answer.status >= 500
                ? .unavailable(
                    reason: "KOBIS returned HTTP status \(answer.status)", retryAfter: answer.pause(at: context.clock.now))
                : .malformedAnswer(reason: "KOBIS returned HTTP status \(answer.status)")
        }
        do {
            return try Answer(readingJSON: answer.body)
        } catch {
            throw .malformedAnswer(reason: "KOBIS's response to \(endpoint) has an undocumented form: \(error)")
        }
    }

    /// The error that KOBIS returns with status 200; `nil` if there is none or the body is not JSON.
    private static func fault(in body: ByteBuffer) -> FaultEnvelope.Fault? {
        do {
            return try FaultEnvelope(readingJSON: body).faultInfo
        } catch {
            return nil
        }
    }

    private func error(for fault: FaultEnvelope.Fault) async -> SourceError {
        switch fault.errorCode {
        case "320011": await quota.exhaust()
        case _ where fault.message.contains("초과"): await quota.exhaust()
        case "320010": .unauthorized(message: fault.message)
        case let code where code.starts(withBytesOf: "3200"): .unauthorized(message: "\(fault.message) (\(code))")
        case let code where code.starts(withBytesOf: "3201"):
            .malformedAnswer(reason: "KOBIS rejected the request (\(code))", details: fault.message)
        case let code: .failed(reason: "KOBIS reports a failure (\(code))", details: fault.message)
        }
    }
}
