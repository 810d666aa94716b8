import FoundationEssentials
import Hummingbird
import HTTPTypes
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// An image as a response, or as “you have it already”.
struct ImageResponse {
    let answer: ImageAnswer
    /// Whether other bytes are possible for another `Accept`.
    let varies: Bool

    /// - Parameter now: the present moment.
    func response(to request: Request, at now: Date) -> Response {
        let entry = answer.entry
        var headers: HTTPFields = [
            .contentType: entry.mediaType,
            .eTag: "\"\(entry.validator)\"",
            .lastModified: HTTPDate.text(entry.created),
            .cacheControl: cacheControl(at: now),
            .cacheStatus: cacheStatus(at: now),
            .serverTiming: serverTiming,
            .xContentTypeOptions: "nosniff",
        ]
        if varies { headers[.vary] = "Accept" }
        if isKnown(to: request) { return Response(status: .notModified, headers: headers) }
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: entry.body))
    }

    /// Conditional requests (RFC 9110 §13.2.2): the validator decides, and only without one the date.
    private func isKnown(to request: Request) -> Bool {
        if let tags = request.headers[.ifNoneMatch] {
            return tags.split(separator: ",").contains { tag in
                let tag = tag.filter { $0 != " " }
                return tag == "*" || tag == "\"\(answer.entry.validator)\"" || tag == "W/\"\(answer.entry.validator)\""
            }
        }
        guard let text = request.headers[.ifModifiedSince], let since = HTTPDate.parse(text, now: answer.entry.created) else {
            return false
        }
        return answer.entry.created.timeIntervalSince1970.rounded(.down) <= since.timeIntervalSince1970
    }

    private func cacheControl(at now: Date) -> String {
        let day = 86_400
        let age = answer.entry.expires.map { max(0, min(day, Int($0.timeIntervalSince(now)))) } ?? day
        return "public, max-age=\(age), stale-while-revalidate=\(day), stale-if-error=\(day)"
    }

    /// RFC 9211.
    private func cacheStatus(at now: Date) -> String {
        switch answer.origin {
        case .tier(let name):
            let ttl = answer.entry.expires.map { "; ttl=\(Int($0.timeIntervalSince(now)))" } ?? ""
            return "onesheet; hit\(ttl); detail=\(name)"
        case .made: return "onesheet; fwd=miss; stored"
        case .revalidated: return "onesheet; fwd=stale; stored; detail=revalidated"
        }
    }

    /// W3C Server Timing.
    private var serverTiming: String {
        answer.timings.map { "\($0.stage);dur=\(($0.milliseconds * 1000).rounded() / 1000)" }.joined(separator: ", ")
    }
}

extension HTTPField.Name {
    /// Constant names, known to be valid.
    private static func known(_ name: String) -> Self {
        guard let field = HTTPField.Name(name) else { preconditionFailure("“\(name)” is not a field name") }
        return field
    }

    static let cacheStatus = known("Cache-Status")
    static let serverTiming = known("Server-Timing")
}
