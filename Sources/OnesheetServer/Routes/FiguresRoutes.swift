import HummingbirdCore
import NIOCore

/// `/figures`: the figures of the last hour and the quotas. Equal for all clients until the next reading.
struct FiguresRoute: Route {
    let prefix = "/figures"
    let history: MetricHistory

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        .written(ByteBuffer(string: history.document))
    }
}

/// `/errors`: the last server errors. Requires the administrator's token, because they reveal the requests of others.
struct ErrorsRoute: Route {
    let prefix = "/errors"
    let isSlashOptional = true
    let errors: RecentErrors
    let administrator: Administrator

    private struct Document: Encodable {
        let errors: [RecentErrors.Entry]
    }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        try administrator.check(context)
        return try .json(Document(errors: errors.all))
    }
}
