package import NIOHTTP1
package import OnesheetCore

/// The reason for which an exchange with an origin brought no complete response, and its progress.
package struct ExchangeFailure: Error {
    package enum Kind {
        /// All addresses of the host are outside the source's networks.
        case refused([IPAddress])
        case noAddress
        case timedOut
        /// The response exceeds this limit in bytes.
        case tooLarge(Int)
        /// There is no memory for the response.
        case noMemory
        /// The limit of connections or name lookups is reached.
        case full
        /// The proxy of the source does not lead to the host; the reason names the proxy.
        case proxy(String)
        /// The message of the system, the TLS library or the parser.
        case broken(String)
        /// The response is complete but unusable.
        case unusable(String)
    }

    package enum Stage: Comparable {
        /// There was no connection.
        case connecting
        /// No data was received.
        case waiting
        /// A part of the head was received.
        case begun
        /// The head was received.
        case answered
    }

    package let kind: Kind
    package let stage: Stage
    /// The head of a response whose body is missing.
    package let head: HTTPResponseHead?

    package init(_ kind: Kind, _ stage: Stage, head: HTTPResponseHead? = nil) {
        self.kind = kind
        self.stage = stage
        self.head = head
    }

    /// Whether no head was received and the host is to blame.
    package var isUnanswered: Bool {
        switch kind {
        case .noMemory, .full, .proxy: false
        default: stage < .answered
        }
    }

    /// Whether the host has answered, with a response or with bytes that are none. Such bytes are the fault of one URL.
    package var isAnswered: Bool { stage >= .begun }

    /// Whether a retry may succeed.
    package var isWorthAnotherTry: Bool {
        switch kind {
        case .broken, .noAddress, .refused: true
        case .timedOut, .tooLarge, .noMemory, .full, .proxy, .unusable: false
        }
    }

    /// A description for the log only.
    package var detail: String {
        switch kind {
        case .refused(let addresses):
            "outside the source's networks: " + addresses.prefix(4).map { "\($0)" }.joined(separator: ", ")
        case .noAddress: "the name has no address"
        case .timedOut: "time-out"
        case .tooLarge(let limit): "more than \(limit) bytes"
        case .noMemory: "no memory"
        case .full: "too many connections or lookups"
        case .broken(let reason), .unusable(let reason), .proxy(let reason): reason
        }
    }
}

extension ExchangeFailure {
    /// The failure for the caller. If a stranger may have chosen the host, all connection failures look the same: refused, unknown,
    /// closed, silent, or invalid. Otherwise they would reveal the internal network.
    package func error(at url: WebURL, isNamed: Bool) -> HTTPTransportError {
        let url = url.description
        if !isNamed, isUnanswered { return .failed(url: url, reason: "its host does not answer") }
        switch kind {
        case .refused:
            return .forbidden(url: url, reason: "this server refuses its host, which has no address in “networks” of the source")
        case .noAddress: return .failed(url: url, reason: "its host has no address")
        case .timedOut: return .timedOut(url: url)
        case .tooLarge(let limit): return .tooLarge(url: url, limit: limit)
        case .noMemory: return .overloaded(url: url)
        case .full: return .crowded(url: url, retryAfter: 1)
        // What a proxy says of a host tells as much about an internal network.
        case .proxy(let reason):
            return .failed(url: url, reason: isNamed ? reason : "the proxy of its source does not lead to its host")
        case .broken(let reason), .unusable(let reason): return .failed(url: url, reason: reason)
        }
    }
}
