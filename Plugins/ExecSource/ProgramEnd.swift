internal import CLinux
internal import Dispatch
internal import Foundation
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The end of a program. It is noted once: by a thread that waits for it, or by Foundation, which notices it only after the end of all
/// processes that the program has started, because they inherit a socket of it (Swift 6.3.1, Linux).
final class ProgramEnd: Sendable {
    private let state = Mutex<String?>(nil)
    private let isNoted = DispatchSemaphore(value: 0)
    private let running: DispatchGroup

    /// - Parameter running: left at the end.
    init(_ running: DispatchGroup) { self.running = running }

    /// How the program has ended; `nil` if it runs.
    var reason: String? { state.withLock { $0 } }

    /// Starts a thread that waits for the end of `process`.
    func watch(_ process: pid_t) {
        Thread.detachNewThread { [self] in
            var status: Int32 = 0
            let end = cexec_wait(process, &status)
            if end != 0 { note(process, status: status, isSignal: end == 2) }
        }
    }

    /// Notes the end of `process`, and kills what it has left in its group.
    /// - Parameter isSignal: whether `status` is the signal that has ended it.
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

    /// Waits until the end is noted.
    /// - Returns: `false` if it is not in time.
    func wait(_ time: DispatchTimeInterval) -> Bool { isNoted.wait(timeout: .now() + time) == .success }
}
