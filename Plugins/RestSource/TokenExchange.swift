internal import FoundationEssentials
internal import OnesheetCore
internal import Synchronization

/// The token of a service: one exchange at a time, whose outcome all callers share. It is kept in memory alone.
final class TokenExchange: Sendable {
    struct Token: Sendable {
        var text: String
        /// When the service stops to accept it, if that is known.
        var until: Date?
    }

    typealias Outcome = Result<Token, SourceError>
    /// `nil` if the caller that made the exchange was cancelled, so that another has to.
    private typealias Waiter = FirstOutcome<Outcome?>

    private struct State {
        var token: Token?
        var isBusy = false
        var tickets = 0
        var waiters: [Int: Waiter] = [:]
    }

    private enum Turn {
        case known(String)
        case wait(Int, Waiter)
        case exchange
    }

    private let state = Mutex(State())

    /// The longest token, in bytes: longer headers are refused by most servers.
    private static let longest = 8192

    /// Whether a text may be a token, which is written into header fields.
    static func isToken(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The token, from `exchange` if there is none that is valid at `now`.
    /// - Parameter refused: a token that the service has refused.
    func token(
        at now: Date, refused: String? = nil, _ exchange: () async throws(SourceError) -> Token
    ) async throws(SourceError) -> String {
        while true {
            switch enter(now, refused) {
            case .known(let text): return text
            case .wait(let ticket, let waiter):
                let outcome = await withTaskCancellationHandler {
                    await waiter.value()
                } onCancel: {
                    state.withLock { $0.waiters[ticket] = nil }
                    waiter.give(nil)
                }
                if let outcome { return try outcome.get().text }
                guard !Task.isCancelled else { throw .unavailable(reason: "the call was cancelled") }
            case .exchange:
                do throws(SourceError) {
                    let token = try await exchange()
                    leave(.success(token))
                    return token.text
                } catch {
                    leave(Task.isCancelled ? nil : .failure(error))
                    throw error
                }
            }
        }
    }

    private func enter(_ now: Date, _ refused: String?) -> Turn {
        state.withLock { state in
            if let token = state.token, token.until.map({ now < $0 }) ?? true, !(refused?.isExactly(token.text) ?? false) {
                return .known(token.text)
            }
            guard state.isBusy else {
                (state.isBusy, state.token) = (true, nil)
                return .exchange
            }
            let waiter = Waiter()
            state.tickets += 1
            state.waiters[state.tickets] = waiter
            return .wait(state.tickets, waiter)
        }
    }

    private func leave(_ outcome: Outcome?) {
        let waiters = state.withLock { state in
            defer { (state.isBusy, state.waiters) = (false, [:]) }
            if case .success(let token)? = outcome { state.token = token }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.give(outcome) }
    }
}
