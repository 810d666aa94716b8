/// The reason for which a server gave no usable answer.
public enum ClientError: Error, Sendable, Equatable {
    /// There was no connection, or it ended before the answer did. The text is the reason in the words of the transport.
    case unreachable(String)
    /// No data arrived within this time.
    case timedOut(after: Duration)
    /// The server refused the request or failed, and gave a reason.
    case problem(ServerProblem)
    /// The answer has more bytes than the limit.
    case tooLarge(limit: Int)
    /// The answer is not the expected document. The text is the reason.
    case unreadable(String)
    /// A prefetch had begun and failed. The text is the server's reason.
    case failed(String)
    /// The task was cancelled.
    case cancelled
}

extension ClientError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreachable(let reason): "the server cannot be reached: \(reason)"
        case .timedOut(let duration): "the server sent nothing for \(duration)"
        case .problem(let problem): problem.description
        case .tooLarge(let limit): "the answer has more than \(limit) bytes"
        case .unreadable(let reason): "the answer cannot be read: \(reason)"
        case .failed(let reason): "the prefetch has failed: \(reason)"
        case .cancelled: "the request was cancelled"
        }
    }
}

/// An answer with an error: a problem document (RFC 9457), or what is known of another answer, such as one of a proxy.
public struct ServerProblem: Sendable, Equatable {
    /// The HTTP status code.
    public let status: Int
    /// The type as a URI. `about:blank` means that only the status is known.
    public let type: String
    /// The kind of problem in a few words.
    public let title: String?
    /// This problem in a sentence, with the value that is wrong.
    public let detail: String?
    /// The name of the invalid option, if there is one.
    public let option: String?
    /// The identifier of the request in the server's log.
    public let request: String?
    /// Seconds until a retry may succeed.
    public let retryAfter: Int?
}

extension ServerProblem: CustomStringConvertible {
    public var description: String {
        let words = [title, detail].compactMap(\.self).joined(separator: ": ")
        return "status \(status)" + (words.isEmpty ? "" : ", \(words)") + (request.map { " (request \($0))" } ?? "")
    }
}
