import OnesheetHTTP
import OnesheetAddress
import FoundationEssentials
import HummingbirdCore
import HTTPTypes
import NIOCore
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle

/// `POST /prefetch` `{"source": "sample", "date": "2026-11-20", "sizes": ["w342"], "formats": ["jpg"]}`, and `GET /prefetch` for the
/// running prefetches and the last ones. Requires the administrator's token.
///
/// `POST` responds with the summary at the end. A client that accepts `text/event-stream` receives progress events. `"dryRun": true`
/// responds with an estimate and renders nothing.
struct PrefetchRoute: Route {
    let prefix = "/prefetch"
    let isSlashOptional = true
    let methods: [HTTPTypes.HTTPRequest.Method] = [.get, .head, .post]
    let prefetcher: Prefetcher
    let jobs: PrefetchJobs
    let ledger: PrefetchLedger
    let options: ImageOptions
    let administrator: Administrator
    let clock: WallClock

    private struct Body: JSONBody {
        let source: String
        let date: CalendarDay?
        let from: CalendarDay?
        let to: CalendarDay?
        let list: String?
        let query: String?
        let ids: [String]?
        let sizes: [String]?
        let formats: [String]?
        let answers: [String]?
        let dryRun: Bool?

        enum CodingKeys: CodingKey, CaseIterable { case source, date, from, to, list, query, ids, sizes, formats, answers, dryRun }

        func order() throws(RequestError) -> PrefetchOrder {
            if let ids, ids.isEmpty { throw .malformed("“ids” is empty: leave it out, or name at least one") }
            var order = try PrefetchOrder(
                source: source, date: date, from: from, to: to, ids: ids ?? [], list: list, query: query,
                sizes: sizes ?? PrefetchConfiguration.defaultSizes, formats: formats ?? PrefetchConfiguration.defaultFormats,
                naming: { "“\($0.rawValue)”" })
            order.answers = answers
            return order
        }
    }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        try administrator.check(context)
        guard context.method == .post else { return try .json(PrefetchJobsDocument(jobs: jobs.all)) }
        try context.request.checkedQuery()
        let body = try await context.decodeBody(Body.self, example: "{\"source\": \"sample\", \"sizes\": [\"w342\"]}")
        let order = try body.order()
        // Check the order first: an error needs a problem document, which is impossible once a stream has begun.
        let variants = try order.variants(options)
        if body.dryRun == true {
            return try .json(await prefetcher.estimate(try await prefetcher.titles(order.selection), variants))
        }
        guard WeightedValues(context.headers[.accept]).asks(for: "text/event-stream") else {
            return try .json(try await cancelWhenGracefulShutdown { try await ledger.run(order, as: variants, with: prefetcher) })
        }
        return EventStream.response { send in
            do {
                let summary = try await cancelWhenGracefulShutdown {
                    try await ledger.run(
                        order, as: variants, with: prefetcher, progress: { send("progress", $0.withLastFailures()) })
                }
                send("done", summary)
            } catch {
                send("failed", Problem(error, at: clock.now.timeIntervalSince1970).detail)
            }
        }
    }
}

/// `DELETE /prefetch/{number}`: stops a prefetch. Requires the administrator's token.
struct PrefetchJobRoute: Route {
    let prefix = "/prefetch/"
    let methods: [HTTPTypes.HTTPRequest.Method] = [.delete]
    let jobs: PrefetchJobs
    let administrator: Administrator

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        try administrator.check(context)
        guard let number = Int(canonical: rest), let job = jobs.stop(number) else {
            throw RequestError.noSuchPath(prefix + rest)
        }
        return try .json(job)
    }
}

/// The running prefetches and the last ones that have ended.
private struct PrefetchJobsDocument: Encodable {
    let jobs: [PrefetchJobs.Job]
}
