internal import Foundation
internal import Logging
internal import OnesheetCore

/// Keeps the program running: starts it with the first call, and again after it has ended. If it keeps ending without an answer,
/// the pauses between starts grow. If it ends over the calls of a few clients, only they wait for the end of a pause.
actor Supervisor {
    /// The attempts of a call, and the starts without an answer before the first pause. A call that another start can answer
    /// therefore never waits for a pause that it caused.
    private static let attempts = 4
    /// The pauses between later starts.
    private static let pauses = Backoff(from: .milliseconds(500), upTo: .seconds(30))
    /// The most clients that may start the program in a pause.
    private static let mostCulprits = 16

    private let launcher: any ChildLauncher
    private let context: PluginContext
    private let timeout: Duration
    private var current: Conversation?
    private var starting: Task<Result<Conversation, SourceError>, Never>?
    /// The conversations whose programs may be running, also stopped ones.
    private var conversations: [Conversation] = []
    private var isShutDown = false
    /// Ends since the last answer.
    private var failures = 0
    private var pauses = Supervisor.pauses
    private var nextStart = Date.distantPast
    private var lastEnd: (reason: String, lastWords: String?)?
    /// The clients over whose calls the program has ended since the last answer.
    private var culprits: Set<ClientKey> = []
    /// Whether the program ended last over a call of one of these, as far as is known.
    private var hasCulprit = false
    private let suspects = SuspectLine()

    init(launcher: any ChildLauncher, context: PluginContext, timeout: Duration) {
        self.launcher = launcher
        self.context = context
        self.timeout = timeout
    }

    deinit { for conversation in conversations { conversation.stop() } }

    /// Fails all calls, now and later, and returns when every program has ended.
    func shutdown() async {
        isShutDown = true
        for conversation in conversations { conversation.ended(Self.shutdownReason) }
        // Its greeting has failed, so it ends without a wait.
        _ = await starting?.value
        await withTaskGroup(of: Void.self) { group in
            for conversation in conversations { group.addTask { await conversation.shutdown() } }
        }
    }

    private static let shutdownReason = "the source is shut down"

    /// Calls the program, and again if it ended during the call, which is safe to repeat: then not beside other calls that may have ended it.
    func call(_ method: String, _ params: [String: JSONValue], title: String? = nil) async throws(SourceError) -> JSONValue {
        let client = ClientKey.current
        var turn = culprits.contains(client) || suspects.has(client) ? await suspects.turn(of: client) : nil
        defer { turn?.end() }
        var attempt = 1
        while true {
            let conversation = try await running()
            turn?.begin()
            do throws(SourceError) {
                return try await ask(conversation, method: method, params: params, title: title)
            } catch {
                guard attempt < Self.attempts, conversation.end != nil, !Task.isCancelled, error.mayPass else {
                    throw error
                }
            }
            attempt += 1
            turn?.end()
            turn = await suspects.turn(of: client)
        }
    }

    private func ask(
        _ conversation: Conversation, method: String, params: [String: JSONValue], title: String?
    ) async throws(SourceError) -> JSONValue {
        let answer = try await conversation.call(method, params, title: title, timeout: timeout)
        failures = 0
        pauses = Self.pauses
        culprits = []
        return answer
    }

    private func running() async throws(SourceError) -> Conversation {
        if isShutDown { throw .unavailable(reason: Self.shutdownReason) }
        if let current {
            if current.end == nil { return current }
            self.current = nil
            if let end = current.end { note(end.reason, end.lastWords, culprit: end.culprit, isShared: end.isShared) }
        }
        if starting == nil {
            let now = context.clock.now
            guard now >= nextStart || mayStartEarly(.current) else {
                let seconds = Int(nextStart.timeIntervalSince(now).rounded(.up))
                let reason = lastEnd?.reason ?? "the program keeps ending"
                throw .ended("\(reason); the next start is in \(seconds) s", lastWords: lastEnd?.lastWords)
            }
            let (launcher, name, timeout) = (launcher, context.name, timeout)
            let conversation = Conversation()
            conversations.removeAll { !$0.isRunning }
            conversations.append(conversation)
            starting = Task {
                do throws(SourceError) {
                    try await conversation.begin(launcher, name: name, timeout: timeout)
                    return .success(conversation)
                } catch {
                    // It ended during the greeting. Waiting calls notice it themselves and have attempts left.
                    if conversation.endedByItself { return .success(conversation) }
                    conversation.stop()
                    return .failure(error)
                }
            }
        }
        guard let task = starting else { throw .unavailable(reason: "the program is not started") }
        let result = await task.value
        // The first caller that returns from waiting settles it for all.
        if starting == task {
            starting = nil
            switch result {
            case .success(let conversation): current = conversation
            case .failure(let error): note(error.reason, error.details)
            }
        }
        return try result.get()
    }

    /// Whether a call of `client` may start the program in a pause.
    private func mayStartEarly(_ client: ClientKey) -> Bool {
        hasCulprit && culprits.count < Self.mostCulprits && !culprits.contains(client)
    }

    /// The first restarts are immediate; then after 0.5 s, 1 s, 2 s … up to 30 s.
    /// - Parameters:
    ///   - culprit: the client of the only call that was under way.
    ///   - isShared: whether several were. One of them is likely that of a client over whose calls it has ended before.
    private func note(_ reason: String, _ lastWords: String?, culprit: ClientKey? = nil, isShared: Bool = false) {
        failures += 1
        hasCulprit = culprit != nil || isShared && hasCulprit
        if let culprit { culprits.insert(culprit) }
        let delay = failures < Self.attempts ? 0 : pauses.next() / .seconds(1)
        nextStart = context.clock.now.addingTimeInterval(delay)
        lastEnd = (reason, lastWords)
        context.logger.warning(
            "the program failed",
            metadata: ["reason": "\(lastWords.map { "\(reason): \($0)" } ?? reason)", "restart": "\(delay) s"])
    }
}

extension SourceError {
    /// The reason without the words that every error of its kind has.
    fileprivate var reason: String {
        switch self {
        case .unavailable(let reason, _), .failed(let reason, _), .malformedAnswer(let reason, _): reason
        default: description
        }
    }
}
