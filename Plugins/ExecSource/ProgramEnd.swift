internal import CExec
internal import Dispatch
internal import FoundationEssentials
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The end of a program. It is noted once, by Foundation or by a thread that reads from the program: Foundation notices it only after the end
/// of all processes that the program has started, because they inherit a socket of it (Swift 6.3.1, Linux).
final class ProgramEnd: Sendable {
    private let state = Mutex<String?>(nil)
    private let isNoted = DispatchSemaphore(value: 0)
    private let running: DispatchGroup

    /// - Parameter running: left at the end.
    init(_ running: DispatchGroup) { self.running = running }

    /// How the program has ended; `nil` if it runs.
    var reason: String? { state.withLock { $0 } }

    /// Notes the end of `process`, and kills what it has left in its group.
    /// - Parameter signal: whether `status` is the signal that has ended it.
    func note(_ process: pid_t, status: Int32, isSignal: Bool) {
        let isFirst = state.withLock { reason in
            guard reason == nil else { return false }
            reason = isSignal ? "the program was ended by signal \(signalName(status))" : "the program ended with status \(status)"
            return true
        }
        guard isFirst else { return }
        kill(-process, SIGKILL)
        isNoted.signal()
        running.leave()
    }

    /// Looks whether `process` has ended, and notes it.
    func isEnd(of process: pid_t) -> Bool {
        if reason != nil { return true }
        var status: Int32 = 0
        let end = cexec_end(process, &status)
        if end != 0 { note(process, status: status, isSignal: end == 2) }
        return end != 0
    }

    /// Waits until the end is noted.
    /// - Returns: `false` if it is not in time.
    func wait(_ time: DispatchTimeInterval) -> Bool { isNoted.wait(timeout: .now() + time) == .success }
}
