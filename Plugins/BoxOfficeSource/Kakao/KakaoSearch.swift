internal import NIOCore
internal import OnesheetCore

/// A client for Kakao's image search.
struct KakaoSearch: Sendable {
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
        self.quota = DailyQuota(quota, name: "kakao", secondsFromGMT: Self.koreaStandardTime, context: context)
    }

    /// - Parameters:
    ///   - size: the number of pictures, at most 80.
    ///   - page: from 1, at most 50.
    func images(for phrase: String, size: Int, page: Int = 1) async throws(SourceError) -> KakaoAnswer {
        try await quota.spend()
        let query = PercentEncoding.query(["query": phrase, "sort": "accuracy", "page": String(page), "size": String(size)])
        let request = HTTPRequest(url: "\(baseURL)/v2/search/image?\(query)", headers: ["Authorization": "KakaoAK \(key)"])
        let answer = try await context.get(request, under: policy)
        if let fault = fault(in: answer) { throw await error(for: fault, status: answer.status) }
        guard answer.isSuccess else { throw error(for: answer) }
        do {
            let found = try KakaoAnswer(readingJSON: answer.body)
            context.warn(ofMissing: found.damage, in: "the search of Kakao")
            return found
        } catch {
            throw .malformedAnswer(reason: "Kakao's response has an undocumented form: \(error)")
        }
    }

    /// The error in a response; `nil` if there is none or the body is not JSON.
    private func fault(in answer: HTTPAnswer) -> KakaoFault? {
        guard !answer.isSuccess else { return nil }
        do {
            return try KakaoFault(readingJSON: answer.body)
        } catch {
            return nil
        }
    }

    private func error(for fault: KakaoFault, status: Int) async -> SourceError {
        switch (fault.code, status) {
        case (-10, _): await quota.exhaust()
        case (-401, _), (_, 401), (_, 403): .unauthorized(message: fault.message)
        case (_, 429): .quotaExhausted(until: nil)
        case (_, 500...): .failed(reason: "Kakao returned \(status)", details: fault.message)
        default: .malformedAnswer(reason: "Kakao rejected the search (\(fault.code))", details: fault.message)
        }
    }

    private func error(for answer: HTTPAnswer) -> SourceError {
        let status = answer.status
        return switch status {
        case 401, 403: .unauthorized(message: "HTTP status \(status)")
        case 429: .quotaExhausted(until: nil)
        case 500...: .unavailable(reason: "Kakao returned HTTP status \(status)", retryAfter: answer.pause(at: context.clock.now))
        default: .malformedAnswer(reason: "Kakao returned HTTP status \(status)")
        }
    }
}
