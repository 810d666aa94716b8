internal import Dispatch
internal import Foundation
internal import FoundationEssentials
internal import Logging
internal import OnesheetCore
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#endif

/// A running program. Its standard output is split into lines; its standard error goes to the log, and its last lines into the reason of
/// its end. To stop it, its standard input is closed. A second later it gets SIGTERM, and two seconds after that SIGKILL, together with the
/// processes that it has started.
final class Program: Child {
    private struct State {
        var output = LineBuffer()
        var errors = LineBuffer()
        var lastWords = LastWords()
        var isStopped = false
    }

    /// How long the end of the output waits for the end of the program, and then for the rest of its standard error.
    private static let patience = (end: DispatchTimeInterval.seconds(1), errors: DispatchTimeInterval.milliseconds(250))
    /// How long the pipes are read after the end of the program.
    private static let rest = Duration.milliseconds(500)
    /// The time between two looks whether the program has ended while its pipes are silent, in milliseconds.
    private static let look: Int32 = 500
    /// A longer line of standard error is cut there.
    private static let longestError = 65_536

    private let process: Process
    private let input: FileHandle
    private let maxLine: Int
    private let logger: Logger
    private let state = Mutex(State())
    /// The process, and the two threads that read from it.
    private let running = DispatchGroup()
    private let end: ProgramEnd
    private let errorsRead = DispatchSemaphore(value: 0)
    /// If the program does not read, writes block this queue only.
    private let writing = DispatchQueue(label: "onesheet.exec.write")

    init(
        _ process: Process, maxLine: Int, limits: ProgramLimits, logger: Logger, _ listener: any ChildListener
    ) throws {
        let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        self.process = process
        end = ProgramEnd(running)
        self.input = input.fileHandleForWriting
        self.maxLine = maxLine
        self.logger = logger
        // A write to an ended program must be an error and not end this process.
        signal(SIGPIPE, SIG_IGN)
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        // Foundation starts each program in its own process group. A remaining process would keep the pipes open and hide the end.
        let end = end
        process.terminationHandler = {
            end.note($0.processIdentifier, status: $0.terminationStatus, isSignal: $0.terminationReason == .uncaughtSignal)
        }
        running.enter()
        do { try process.run() } catch {
            running.leave()
            throw error
        }
        end.watch(process.processIdentifier)
        // The program is not limited before this line.
        if let failure = limits.apply(to: process.processIdentifier) {
            logger.warning("the limits of the program cannot be set", metadata: ["error": "\(failure)"])
        }
        follow(output) { [weak self, weak listener] data in
            guard let self, let listener, !state.withLock({ $0.isStopped }) else { return false }
            read(data, listener)
            return true
        }
        follow(errors) { [weak self] data in
            self?.log(data)
            return self != nil
        }
    }

    /// Tells the listener how the program ended. Waits for that, because a program's output ends shortly before the program.
    private func reportEnd(to listener: any ChildListener) {
        let hasEnded = end.wait(Self.patience.end)
        if hasEnded { _ = errorsRead.wait(timeout: .now() + Self.patience.errors) }
        let words = state.withLock { $0.lastWords.text }
        listener.ended(end.reason ?? "the program has closed its standard output", lastWords: words)
        // Without an output it is of no use.
        if !hasEnded { stop() }
    }

    /// Passes on the bytes from a pipe, and empty data at its end, while `each` returns true. Uses a thread that blocks, because
    /// Foundation's `readabilityHandler` on Linux sometimes crashes if a pipe is closed while it is watched (Swift 6.3.1).
    ///
    /// Stops some time after the end of the program: a process that the program has started may have left its group, and keep the pipe open
    /// for ever.
    private func follow(_ pipe: Pipe, _ each: @escaping @Sendable (Data) -> Bool) {
        let (running, programEnd) = (running, end)
        running.enter()
        Thread.detachNewThread {
            defer { running.leave() }
            // Keeps the handle open until the thread ends; otherwise its descriptor could be reused.
            let handle = pipe.fileHandleForReading
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var end: ContinuousClock.Instant?
            while true {
                if end == nil, programEnd.reason != nil { end = .now + Self.rest }
                guard end.map({ $0 > .now }) ?? true else {
                    _ = each(Data())
                    break
                }
                var descriptor = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&descriptor, 1, Self.look) > 0 else { continue }
                let count = Foundation.read(handle.fileDescriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                if !each(Data(buffer.prefix(max(0, count)))) || count <= 0 { break }
            }
            withExtendedLifetime(pipe) {}
        }
    }

    deinit { stop() }

    func send(_ line: Data) {
        writing.async { [self] in
            do { try input.write(contentsOf: line) } catch {
                logger.debug("the program does not read its input", metadata: ["error": "\(error)"])
            }
        }
    }

    func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        guard isFirst else { return }
        let (input, logger) = (input, logger)
        writing.async {
            do { try input.close() } catch {
                logger.debug("the program's input is already closed", metadata: ["error": "\(error)"])
            }
        }
        let process = process
        for (delay, signal) in [(1.0, SIGTERM), (3, SIGKILL)] {
            DispatchQueue.global().asyncAfter(deadline: .now() + delay) { Self.send(signal, to: process) }
        }
    }

    func shutdown() async {
        stop()
        let (running, process) = (running, process)
        await withTaskCancellationHandler {
            await withCheckedContinuation { ended in running.notify(queue: .global()) { ended.resume() } }
        } onCancel: {
            Self.send(SIGKILL, to: process)
        }
    }

    var isRunning: Bool { end.reason == nil && process.isRunning }

    /// Sends a signal to the process and those that it has started.
    private static func send(_ signal: Int32, to process: Process) {
        if process.isRunning { kill(-process.processIdentifier, signal) }
    }

    private func read(_ data: Data, _ listener: any ChildListener) {
        if data.isEmpty { return reportEnd(to: listener) }
        let (lines, isTooLong) = state.withLock { state in
            let lines = state.output.lines(after: data)
            return (lines, state.output.rest > maxLine || lines.contains { $0.count > maxLine })
        }
        if isTooLong { return listener.refuse("the program wrote a line of more than \(maxLine) bytes") }
        lines.forEach(listener.received)
    }

    private func log(_ data: Data) {
        let lines = state.withLock { state in
            var lines = state.errors.lines(after: data)
            // A line without an end must not fill the memory. At the end, the last line may lack a terminator.
            if data.isEmpty || state.errors.rest > Self.longestError, let rest = state.errors.cut() { lines.append(rest) }
            for line in lines { state.lastWords.add(line) }
            return lines
        }
        for line in lines { logger.info("\(String(decoding: line, as: UTF8.self))") }
        if data.isEmpty { errorsRead.signal() }
    }
}

/// Starts a program of the operating system.
struct ProgramLauncher: ChildLauncher {
    /// The program and its arguments.
    let command: [String]
    /// The environment of the program, in addition to `PATH` and the language.
    let environment: [String: String]
    /// Bytes of one line.
    let maxLine: Int
    let limits: ProgramLimits
    let logger: Logger

    func launch(_ listener: any ChildListener) throws -> any Child {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try Self.find(command[0]))
        process.arguments = Array(command.dropFirst())
        let inherited = ProcessInfo.processInfo.environment.filter {
            ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"].contains($0.key)
        }
        process.environment = inherited.merging(environment) { _, own in own }
        return try Program(process, maxLine: maxLine, limits: limits, logger: logger, listener)
    }

    /// The path of the program: unchanged if it has a slash, otherwise from `PATH`.
    static func find(_ name: String) throws(ConfigurationError) -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let paths = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else {
            throw ConfigurationError(path: "command", message: "“\(name)” is not an executable program")
        }
        return path
    }
}

/// Splits the bytes from a pipe into lines, in linear time for any number and length of lines.
struct LineBuffer {
    private var begun = Data()

    /// The bytes of the incomplete line.
    var rest: Int { begun.count }

    /// The lines that end in `data`, without their terminators. Omits empty lines.
    mutating func lines(after data: Data) -> [Data] {
        var lines: [Data] = []
        var start = data.startIndex
        while let end = data[start...].firstIndex(of: UInt8(ascii: "\n")) {
            begun += data[start..<end]
            if !begun.isEmpty { lines.append(begun) }
            begun = Data()
            start = end + 1
        }
        begun += data[start...]
        return lines
    }

    /// Ends the incomplete line.
    /// - Returns: the line; `nil` if it is empty.
    mutating func cut() -> Data? {
        defer { begun = Data() }
        return begun.isEmpty ? nil : begun
    }
}
