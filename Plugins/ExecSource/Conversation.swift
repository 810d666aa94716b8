internal import FoundationEssentials
internal import OnesheetCore
internal import Synchronization

/// The lifetime of one program: sends calls, and receives answers in any order.
final class Conversation: Sendable {
    private typealias Waiting = CheckedContinuation<Result<JSONValue, SourceError>, Never>

    private struct State {
        var child: (any Child)?
        var waiting: [Int: (continuation: Waiting, title: String?, client: ClientKey?)] = [:]
        /// Abandoned calls whose answers may still arrive.
        var abandoned: Set<Int> = []
        /// Calls in a row that were not answered in time.
        var silences = 0
        var nextID = 1
        var end: End?
    }

    /// Why a program no longer answers.
    struct End {
        let error: SourceError
        let reason: String
        /// What it wrote last to standard error.
        var lastWords: String?
        /// The client of the only call that was under way; `nil` if there was none or more than one.
        var culprit: ClientKey?
        /// Whether several calls were under way.
        var isShared = false
    }

    /// The most outstanding answers of a program before it counts as hung.
    private static let mostOwed = 1000
    /// The calls in a row without an answer in time after which it counts as hung.
    private static let mostSilences = 5
    private let state = Mutex(State())

    init() {}

    /// The reason for which the program no longer answers; `nil` while it does.
    var end: End? { state.withLock { $0.end } }

    /// Whether the program ran and has ended for a reason that a restart may remove.
    var endedByItself: Bool { state.withLock { $0.child != nil && $0.end?.error.mayPass == true } }

    /// Whether the program has been started and has not ended yet.
    var isRunning: Bool { state.withLock { $0.child }?.isRunning ?? false }

    /// Starts the program and negotiates the protocol.
    func begin(_ launcher: any ChildLauncher, name: String, timeout: Duration) async throws(SourceError) {
        if let end = state.withLock({ $0.end }) { throw end.error }
        do {
            let child = try launcher.launch(self)
            state.withLock { $0.child = child }
        } catch {
            // The error may name paths of this machine.
            ended("the program cannot start", lastWords: "\(error)")
            throw .failed(reason: "the program cannot start", details: "\(error)")
        }
        let greeting = try await call("initialize", ["protocol": 1, "name": .string(name)], title: nil, timeout: timeout)
        guard case .object(let members) = greeting, members["protocol"] == 1 else {
            let reason = "the program does not support protocol 1"
            refuse(reason)
            throw .malformedAnswer(reason: reason)
        }
    }

    func call(_ method: String, _ params: [String: JSONValue], title: String?, timeout: Duration) async throws(SourceError)
        -> JSONValue
    {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        var alarm: Alarms.ID?
        defer { if let alarm { Alarms.shared.cancel(alarm) } }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.send(RemoteCall(id: id, method: method, params: .object(params)), for: continuation, title: title)
                // Real time limits the program. Before the call waits, the alarm would find nothing to abandon.
                alarm = Alarms.shared.set(in: timeout) { self.abandon(id, Self.silence(after: method), isLate: true) }
            }
        } onCancel: {
            self.abandon(id, "cancelled", isLate: false)
        }
        return try result.get()
    }

    /// The reason for a call without an answer. Many languages keep what they write to a pipe until there is a block of it.
    private static func silence(after method: String) -> String {
        let reason = "the program did not answer “\(method)” in time"
        return method == "initialize" ? reason + "; it must flush its standard output after each line" : reason
    }

    func stop() { state.withLock { $0.child }?.stop() }

    /// Stops the program, and returns when it has ended.
    func shutdown() async { await state.withLock { $0.child }?.shutdown() }

    private func send(_ call: RemoteCall, for continuation: Waiting, title: String?) {
        let line: Data
        do {
            line = try call.line()
        } catch {
            return continuation.resume(returning: .failure(.unsupported("the call cannot be encoded: \(error)")))
        }
        let (child, refusal) = state.withLock { state -> ((any Child)?, SourceError?) in
            // The greeting failed because the program ended. A later call was not sent yet and may go to the next program.
            if let end = state.end { return (nil, call.method == "initialize" ? end.error : SourceError(end)) }
            if Task.isCancelled { return (nil, .unavailable(reason: "cancelled")) }
            // The greeting is no client's.
            state.waiting[call.id] = (continuation, title, call.method == "initialize" ? nil : .current)
            return (state.child, nil)
        }
        if let refusal { return continuation.resume(returning: .failure(refusal)) }
        child?.send(line)
    }

    /// Takes a line from the program's standard output, without its terminator.
    func received(_ line: Data) {
        guard !line.isEmpty, end == nil else { return }
        guard let answer = RemoteAnswer(line: line) else {
            // After an invalid line, no line can be assigned to a call, unless there is only one. What a program prints by mistake is not for
            // visitors.
            return refuse("the program wrote an invalid answer", details: String(decoding: line.prefix(100), as: UTF8.self))
        }
        let (title, isExpected) = state.withLock { state in
            state.silences = 0
            return (state.waiting[answer.id]?.title, state.waiting[answer.id] != nil || state.abandoned.remove(answer.id) != nil)
        }
        guard isExpected else { return refuse("the program answers call \(answer.id), which is not waiting") }
        finish(answer.id, answer.error.map { .failure($0.sourceError(title)) } ?? .success(answer.result ?? .null))
    }

    /// Terminates a program after a protocol error.
    func refuse(_ reason: String) { refuse(reason, details: nil) }

    /// - Parameter details: the program's own words.
    private func refuse(_ reason: String, details: String?) {
        fail(End(error: .malformedAnswer(reason: reason, details: details), reason: reason, lastWords: details))
        stop()
    }

    /// Notes the end of the output.
    /// - Parameter lastWords: what the program wrote last to standard error, if it wrote anything.
    func ended(_ reason: String, lastWords: String? = nil) {
        fail(End(error: .ended(reason, lastWords: lastWords), reason: reason, lastWords: lastWords))
    }

    /// Fails the waiting call with the error of `end`. If there are several, any of them may be the reason, so they fail as if the program had
    /// ended, which lets them be asked again. Later calls fail with its reason.
    private func fail(_ end: End) {
        let (waiting, isKnown) = state.withLock { state in
            let isKnown = state.waiting.count == 1 && state.abandoned.isEmpty
            if state.end == nil {
                state.end = end
                if isKnown { state.end?.culprit = state.waiting.values.first?.client }
                state.end?.isShared = state.waiting.count > 1
            }
            defer { state.waiting = [:] }
            return (state.waiting.values, isKnown)
        }
        for call in waiting { call.continuation.resume(returning: .failure(isKnown ? end.error : SourceError(end))) }
    }

    private func finish(_ id: Int, _ result: Result<JSONValue, SourceError>) {
        state.withLock { $0.waiting.removeValue(forKey: id) }?.continuation.resume(returning: result)
    }

    /// Abandons the call, and the program if it has answered none for a while.
    /// - Parameter isLate: whether the time of the call is over. Otherwise its caller has left, which says nothing about the program.
    private func abandon(_ id: Int, _ reason: String, isLate: Bool) {
        let (call, owed, silences) = state.withLock { state in
            let call = state.waiting.removeValue(forKey: id)
            if call != nil { state.abandoned.insert(id) }
            if call != nil, isLate { state.silences += 1 }
            return (call, state.abandoned.count, state.silences)
        }
        if owed > Self.mostOwed { refuse("the program left \(owed) calls unanswered") }
        if silences >= Self.mostSilences, end == nil {
            // This call and those that wait may go to the next program.
            ended("the program left \(silences) calls in a row unanswered")
            stop()
        }
        call?.continuation.resume(returning: .failure(.unavailable(reason: reason)))
    }
}

extension SourceError {
    /// The error for calls to a program that has ended.
    static func ended(_ reason: String, lastWords: String?) -> Self {
        lastWords.map { .failed(reason: reason, details: $0) } ?? .unavailable(reason: reason)
    }

    fileprivate init(_ end: Conversation.End) { self = .ended(end.reason, lastWords: end.lastWords) }

    /// Whether another start of the program may answer.
    var mayPass: Bool {
        switch self {
        case .unavailable, .failed: true
        default: false
        }
    }
}
