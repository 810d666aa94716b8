import CLinux
import Dispatch
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Starts render processes on a thread of its own, which lives as long as they do.
///
/// A process ends with the thread that started it (`ccage_enter`). If a render thread started it, a process that another thread uses
/// would end when the first has no more work at shutdown.
final class ProcessStarter: Sendable {
    private let thread = NIOThreadPool(numberOfThreads: 1)

    init() { thread.start() }

    deinit { thread.shutdownGracefully { _ in } }

    /// Starts a process, which is not ready yet.
    /// - Throws: `ProcessStartError`.
    func start(_ program: ProcessCommand) throws(ProcessStartError) -> ccage_process {
        let result = Mutex<Result<ccage_process, ProcessStartError>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        thread.submit { _ in
            let started = Self.start(program)
            result.withLock { $0 = started }
            isDone.signal()
        }
        isDone.wait()
        let started = result.withLock { $0 } ?? .failure(.system("starting \(program.path)", ECANCELED))
        return try started.get()
    }

    private static func start(_ program: ProcessCommand) -> Result<ccage_process, ProcessStartError> {
        var process = ccage_process()
        let arguments = ([program.name] + program.arguments).map { strdup($0) }
        let error = ccage_start(program.path, arguments + [nil], &process)
        for argument in arguments { free(argument) }
        return error == 0 ? .success(process) : .failure(.system("starting \(program.path)", error))
    }
}
