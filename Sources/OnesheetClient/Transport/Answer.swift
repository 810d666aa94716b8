internal import OnesheetValues
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A whole response.
struct Answer: Sendable {
    let status: Int
    let fields: [String: String]
    let bytes: [UInt8]

    /// The header field called `name`. Names have no case.
    func field(_ name: String) -> String? {
        fields.first { $0.key.lowercasedASCII() == name.lowercasedASCII() }?.value
    }

    /// The document in the body.
    func decode<Document: Decodable>(_ type: Document.Type) throws(ClientError) -> Document {
        try JSONDocument.decode(type, from: bytes)
    }
}

/// Collects a response within a limit.
final class AnswerCollector: Sendable {
    private let limit: Int
    private let parts = Mutex<(status: Int, fields: [String: String], bytes: [UInt8])?>(nil)

    init(limit: Int) { self.limit = limit }

    func add(_ part: TransportPart) throws(ClientError) {
        let isTooLarge = parts.withLock { parts in
            switch part {
            case .head(let status, let fields): parts = (status, fields, [])
            case .bytes(let bytes): parts?.bytes += bytes
            }
            return (parts?.bytes.count ?? 0) > limit
        }
        if isTooLarge { throw .tooLarge(limit: limit) }
    }

    /// The response.
    /// - Throws: `ClientError.problem` unless the status is 2xx.
    func answer() throws(ClientError) -> Answer {
        guard let (status, fields, bytes) = parts.withLock({ $0 }) else { throw .unreachable("the answer has no head") }
        let answer = Answer(status: status, fields: fields, bytes: bytes)
        guard (200..<300).contains(status) else { throw .problem(ServerProblem(answer)) }
        return answer
    }
}

extension ServerProblem {
    private struct Document: Decodable {
        let type: String?
        let title: String?
        let detail: String?
        let option: String?
        let request: String?
    }

    /// The problem of an answer whose status is not 2xx.
    init(_ answer: Answer) {
        var document: Document?
        if answer.field("Content-Type")?.contains("json") ?? false {
            // Without a readable document, only the status is known.
            do { document = try answer.decode(Document.self) } catch { document = nil }
        }
        let place = (300..<400).contains(answer.status) ? answer.field("Location") : nil
        self.init(
            status: answer.status, type: document?.type ?? "about:blank", title: document?.title,
            detail: document?.detail ?? place.map { "the server redirects to \($0), and the client does not follow" },
            option: document?.option, request: document?.request, retryAfter: answer.field("Retry-After").flatMap { Int($0) })
    }
}
