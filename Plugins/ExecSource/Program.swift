internal import FoundationEssentials
internal import Logging
internal import OnesheetCore
internal import Subprocess
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A running program. Its standard output is split into lines; its standard error goes to the log, and its last lines into the reason of
/// its end. To stop it, its standard input is closed. A second later it gets SIGTERM, and two seconds after that SIGKILL, together with the
/// processes that it has started.
final class Program: Child {
    private typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    private struct State {
        var output = LineBuffer()
        var errors = LineBuffer()
        var lastWords = LastWords()
        /// The process group of the program; `nil` before its start and after its end.
        var group: pid_t?
        var isStopped = false
        var isKilled = false
        var hasEnded = false
        var task: Task<Void, Never>?
        /// Set at the end of its output, and when it no longer reads its input.
        var alarms: [Alarms.ID] = []
    }

    /// How long a program may run on after the end of its output or input.
    private static let patience = Duration.seconds(1)
    /// How long the pipes are read after the end of the program: a process that it has started may have left its group, and write for ever.
    private static let rest = Duration.milliseconds(500)
    /// A longer line of standard error is cut there.
    private static let longestError = 65_536

    private let maxLine: Int
    private let logger: Logger
    private let state = Mutex(State())
    /// Reads and parses what the program writes.
    private let executor = BoundedExecutor(threads: 1)
    private let calls: AsyncStream<Data>
    private let callsToSend: AsyncStream<Data>.Continuation

    init(maxLine: Int, logger: Logger) {
        self.maxLine = maxLine
        self.logger = logger
        (calls, callsToSend) = AsyncStream.makeStream()
    }

    /// Starts the program, and tells `listener` of its lines and its end.
    func start(_ configuration: Configuration, within limits: ProgramLimits, for listener: Conversation) {
        // A write to an ended program must be an error and not end this process.
        signal(SIGPIPE, SIG_IGN)
        // A conversation that is over has no listener.
        let listener: @Sendable () -> Conversation? = { [weak listener] in listener }
        let task = Task(executorPreference: executor) { [self] in
            let reason: String
            do {
                let end = try await run(configuration, input: .inputWriter, output: .sequence, error: .sequence) { running in
                    began(running, within: limits)
                    await follow(running, listener)
                }
                reason = end.terminationStatus.reason
            } catch {
                // The error may name paths of this machine.
                state.withLock { $0.lastWords.add(Data("\(error)".utf8)) }
                reason = "the program cannot start"
            }
            ended()
            // Who stopped it knows why.
            if !isStopped { listener()?.ended(reason, lastWords: lastWords) }
        }
        state.withLock { $0.task = task }
    }

    func send(_ line: Data) { callsToSend.yield(line) }

    func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        guard isFirst else { return }
        // Closes the standard input, after what waits to be sent.
        callsToSend.finish()
        for (delay, signal) in [(Duration.seconds(1), SIGTERM), (.seconds(3), SIGKILL)] {
            _ = Alarms.shared.set(in: delay) { self.signalGroup(signal) }
        }
    }

    func shutdown() async {
        stop()
        let task = state.withLock { $0.task }
        await withTaskCancellationHandler {
            await task?.value
        } onCancel: {
            state.withLock { $0.isKilled = true }
            signalGroup(SIGKILL)
        }
    }

    var isRunning: Bool { state.withLock { !$0.hasEnded } }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private var lastWords: String? { state.withLock { $0.lastWords.text } }

    /// Sends a signal to the program and to what it has started.
    private func signalGroup(_ signal: Int32) {
        state.withLock { if let group = $0.group { kill(-group, signal) } }
    }

    private func began(_ running: Running, within limits: ProgramLimits) {
        let process = running.processIdentifier.value
        // The program is not limited before this line.
        if let failure = limits.apply(to: process) {
            logger.warning("the limits of the program cannot be set", metadata: ["error": "\(failure)"])
        }
        let isKilled = state.withLock { state in
            state.group = process
            return state.isKilled
        }
        if isKilled { signalGroup(SIGKILL) }
    }

    /// Ends what the program has left in its group.
    private func ended() {
        signalGroup(SIGKILL)
        let alarms = state.withLock { state in
            state.group = nil
            state.hasEnded = true
            return state.alarms
        }
        for alarm in alarms { Alarms.shared.cancel(alarm) }
        callsToSend.finish()
    }

    /// Writes and reads until both outputs have ended, or the program.
    private func follow(_ running: Running, _ listener: @escaping @Sendable () -> Conversation?) async {
        await withTaskGroup { group in
            group.addTask { await self.write(to: running.standardInputWriter, listener) }
            async let errors: Void = readErrors(running)
            await read(running.standardOutput, of: running.processIdentifier) { data in
                guard let listener = listener(), !self.isStopped else { return false }
                self.read(data, listener)
                return true
            }
            endSoon("the program has closed its standard output", listener)
            await errors
            group.cancelAll()
        }
    }

    /// Ends a program that has closed its input or output, without which it is of no use. Both close shortly before the program ends by
    /// itself, which says more.
    private func endSoon(_ reason: String, _ listener: @escaping @Sendable () -> Conversation?) {
        let alarm = Alarms.shared.set(in: Self.patience) {
            guard self.isRunning, !self.isStopped else { return }
            listener()?.ended(reason, lastWords: self.lastWords)
            self.stop()
        }
        state.withLock { $0.alarms.append(alarm) }
    }

    private func write(
        to input: StandardInputWriter, _ listener: @escaping @Sendable () -> Conversation?
    ) async {
        do {
            for await call in calls { _ = try await input.write(call) }
            try await input.finish()
        } catch {
            logger.debug("the program does not read its input", metadata: ["error": "\(error)"])
            if !Task.isCancelled { endSoon("the program has closed its standard input", listener) }
        }
    }

    private func readErrors(_ running: Running) async {
        await read(running.standardError, of: running.processIdentifier) { data in
            self.log(data)
            return true
        }
        // The last line may lack a terminator.
        log(Data())
    }

    /// Passes on the bytes from a pipe while `each` returns true.
    private func read(
        _ pipe: SubprocessOutputSequence, of process: ProcessIdentifier, _ each: @Sendable (Data) -> Bool
    ) async {
        var end: ContinuousClock.Instant?
        do {
            for try await bytes in pipe {
                if end == nil, process.hasEnded { end = .now + Self.rest }
                guard end.map({ $0 > .now }) ?? true, each(bytes.withUnsafeBytes { Data($0) }) else { return }
            }
        } catch {
            logger.debug("the program cannot be read", metadata: ["error": "\(error)"])
        }
    }

    private func read(_ data: Data, _ listener: Conversation) {
        let (lines, isTooLong) = state.withLock { state in
            let lines = state.output.lines(after: data)
            return (lines, state.output.rest > maxLine || lines.contains { $0.count > maxLine })
        }
        if isTooLong { return listener.refuse("the program wrote a line of more than \(maxLine) bytes") }
        lines.forEach(listener.received)
    }

    /// - Parameter data: empty at the end.
    private func log(_ data: Data) {
        let lines = state.withLock { state in
            var lines = state.errors.lines(after: data)
            // A line without an end must not fill the memory.
            if data.isEmpty || state.errors.rest > Self.longestError, let rest = state.errors.cut() { lines.append(rest) }
            for line in lines { state.lastWords.add(line) }
            return lines
        }
        for line in lines { logger.info("\(String(decoding: line, as: UTF8.self))") }
    }
}

extension ProcessIdentifier {
    /// Whether the process has ended and is not collected yet.
    fileprivate var hasEnded: Bool {
        #if os(Linux)
            var descriptor = pollfd(fd: processDescriptor, events: Int16(POLLIN), revents: 0)
            return poll(&descriptor, 1, 0) > 0
        #else
            return false
        #endif
    }
}

extension TerminationStatus {
    fileprivate var reason: String {
        switch self {
        case .exited(let status): "the program ended with status \(status)"
        case .signaled(let signal): "the program was ended by signal \(signalName(signal))"
        }
    }
}
