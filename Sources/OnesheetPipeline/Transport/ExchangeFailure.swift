import NIOCore
import OnesheetCore

/// Why one exchange with an origin brought no whole answer, and how far it came.
struct ExchangeFailure: Error {
    enum Kind {
        /// All addresses of the host lie outside the source's networks.
        case refused([IPAddress])
        case noAddress
        case timedOut
        /// More bytes than this.
        case tooLarge(Int)
        /// There is no memory for what comes.
        case noMemory
        /// There are as many connections, or look-ups of names, as there may be.
        case full
        /// The message of the system, the TLS library or the parser.
        case broken(String)
        /// The answer is whole, and nothing can be done with it.
        case unusable(String)
    }

    enum Stage: Comparable {
        /// There was no connection.
        case connecting
        /// Nothing came.
        case waiting
        /// Something came, and no whole head.
        case begun
        /// The head had come.
        case answered
    }

    let kind: Kind
    let stage: Stage

    init(_ kind: Kind, _ stage: Stage) { (self.kind, self.stage) = (kind, stage) }

    /// Whether no head of an answer came, by the host's fault.
    var isUnanswered: Bool {
        switch kind {
        case .noMemory, .full: false
        default: stage < .answered
        }
    }

    /// Whether it may be gone the next moment.
    var isWorthAnotherTry: Bool {
        switch kind {
        case .broken, .noAddress, .refused: true
        case .timedOut, .tooLarge, .noMemory, .full, .unusable: false
        }
    }

    /// A description for the log only.
    var detail: String {
        switch kind {
        case .refused(let addresses):
            "outside the source's networks: " + addresses.prefix(4).map { "\($0)" }.joined(separator: ", ")
        case .noAddress: "the name has no address"
        case .timedOut: "time-out"
        case .tooLarge(let limit): "more than \(limit) bytes"
        case .noMemory: "no memory"
        case .full: "too many connections or look-ups"
        case .broken(let reason), .unusable(let reason): reason
        }
    }
}

extension ExchangeFailure {
    /// The failure as the asker hears it. Whether a host that a stranger may have chosen is refused, unknown, closed, silent or talks
    /// rubbish is all one to them, or they would read off it what there is inside.
    func error(at url: WebURL, isNamed: Bool) -> HTTPTransportError {
        let url = url.description
        if !isNamed, isUnanswered { return .failed(url: url, reason: "its host gives no answer") }
        switch kind {
        case .refused: return .forbidden(url: url, reason: "its host is outside the source's networks")
        case .noAddress: return .failed(url: url, reason: "its host has no address")
        case .timedOut: return .timedOut(url: url)
        case .tooLarge(let limit): return .tooLarge(url: url, limit: limit)
        case .noMemory: return .overloaded(url: url)
        case .full: return .crowded(url: url, retryAfter: 1)
        case .broken(let reason), .unusable(let reason): return .failed(url: url, reason: reason)
        }
    }
}
