import FoundationEssentials
import Logging
import NIOCore
import NIOPosix
import OnesheetCore
import Synchronization

/// Writes one line for each answered request, on a thread of its own. If the file cannot be written as fast as requests are answered,
/// lines are dropped and counted: no request waits for the log.
final class AccessLog: Sendable {
    /// The maximum number of requests that wait to be written.
    static let maxRequests = 16_384
    /// The maximum size of these in bytes.
    static let maxBytes = 8 << 20

    private struct Waiting {
        var requests: [(request: LoggedRequest, time: Date)] = []
        var bytes = 0
        var reopens = false
        /// Whether the thread has a job.
        var isWriting = false
    }

    /// The parts that only the thread uses.
    private struct Output: ~Copyable, Sendable {
        var file: LogFile
        var line: AccessLine
        /// Whether the last write failed, so that a full disk is one message and not thousands.
        var isFailing = false
    }

    private let waiting = Mutex(Waiting())
    private let keys = Mutex(ClientKeys())
    private let lost = Atomic(0)
    private let output: Mutex<Output>
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let identity: ClientIdentity
    private let clock: WallClock
    private let logger: Logger

    /// - Returns: `nil` if there is no access log.
    /// - Throws: `ConfigurationError` if the file cannot be opened.
    init?(
        _ configuration: AccessLogConfiguration, of identity: ClientIdentity, clock: WallClock, logger: Logger
    ) throws(ConfigurationError) {
        guard let path = configuration.path else { return nil }
        let file: LogFile
        do throws(LogFile.Failure) {
            file = try LogFile(path == AccessLogConfiguration.standardOutput ? nil : path)
        } catch {
            throw ConfigurationError(path: "accessLog.path", message: error.description)
        }
        output = Mutex(Output(file: file, line: AccessLine(configuration.format)))
        self.identity = identity
        self.clock = clock
        self.logger = logger
        thread.start()
    }

    deinit { thread.shutdownGracefully { _ in } }

    /// The number of requests without a line, because too many waited or the file could not be written.
    var dropped: Int { lost.load(ordering: .relaxed) }

    /// Leaves the keys of clients out of all lines from now on.
    func leaveOut(_ keys: ClientKeys) { self.keys.withLock { $0 = keys } }

    /// Adds a line. Called on event loops; never waits for the file.
    func add(_ request: LoggedRequest) {
        let (time, size) = (clock.now, request.size)
        let (isFull, begins) = waiting.withLock { waiting in
            guard waiting.requests.count < Self.maxRequests, waiting.bytes + size <= Self.maxBytes else { return (true, false) }
            waiting.requests.append((request, time))
            waiting.bytes += size
            defer { waiting.isWriting = true }
            return (false, !waiting.isWriting)
        }
        if isFull { lost.add(1, ordering: .relaxed) }
        if begins { thread.submit { [self] _ in writeWaiting() } }
    }

    /// Opens the file again, after logrotate has renamed it.
    func reopen() {
        let begins = waiting.withLock { waiting in
            defer { (waiting.reopens, waiting.isWriting) = (true, true) }
            return !waiting.isWriting
        }
        if begins { thread.submit { [self] _ in writeWaiting() } }
    }

    /// Writes the waiting lines and ends the thread. A blocked file delays it by at most `limit`.
    func close(within limit: Duration) async {
        let isDone: Void? = await withTimeoutIgnoringCancellation(limit) { [self] in
            await withCheckedContinuation { done in
                thread.submit { [self] _ in
                    writeWaiting()
                    done.resume()
                }
            }
        }
        if isDone == nil { logger.warning("the last lines of the access log cannot be written") }
    }

    /// Writes until nothing waits. Called on the thread.
    private func writeWaiting() {
        while true {
            let batch = waiting.withLock { waiting -> Waiting? in
                guard !waiting.requests.isEmpty || waiting.reopens else {
                    waiting.isWriting = false
                    return nil
                }
                defer { (waiting.requests, waiting.bytes, waiting.reopens) = ([], 0, false) }
                return waiting
            }
            guard let batch else { return }
            output.withLock { write(batch, to: &$0) }
        }
    }

    private func write(_ batch: Waiting, to output: inout Output) {
        var lines: [UInt8] = []
        output.line.keys = keys.withLock { $0 }
        for (request, time) in batch.requests {
            let facts: RequestFacts? =
                switch request.head {
                case .bytes(let bytes): RequestFacts(bytes)
                case .parsed(let facts): facts
                case .unreadable: nil
                }
            // If a proxy does not name its client, the line has the proxy's address.
            let client =
                identity.client(ofRequestFrom: request.peer, forwardedFor: facts?.forwardedFor, forwarded: facts?.forwarded)
                ?? request.peer
            output.line.append(request, facts, client: client, at: time, to: &lines)
        }
        do throws(LogFile.Failure) {
            if batch.reopens || output.file.isMoved { try output.file.reopen() }
        } catch {
            logger.error("the access log stays in its old file: \(error)")
        }
        do throws(LogFile.Failure) {
            try output.file.write(lines)
            output.isFailing = false
        } catch {
            lost.add(batch.requests.count, ordering: .relaxed)
            if !output.isFailing { logger.error("lines of the access log are lost: \(error)") }
            output.isFailing = true
        }
    }
}
