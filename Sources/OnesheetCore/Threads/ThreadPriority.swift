#if canImport(Glibc)
    internal import Glibc
#endif

/// The priority of a thread, below that of the process. Event loops of clients keep the priority of the process, so that responses wait less
/// for the processor.
///
/// On Linux each thread has a nice value, contrary to POSIX: see setpriority(2). No effect on other systems.
package enum ThreadPriority: Int32 {
    /// For requests that no event loop answers, the files of the disk cache, and connections to origins.
    case requests = 5
    /// For work that may take long, such as renders, plugins, and the decompression of what origins send.
    case work = 10

    /// Gives this thread the priority until it ends. A thread begins with the priority of the thread that started it.
    package func apply() {
        #if canImport(Glibc)
            // Every process may raise its nice values, but few may lower them again. If that fails, the thread keeps its own.
            setpriority(Self.process, 0, min(Self.ofProcess + rawValue, 19))
        #endif
    }

    #if canImport(Glibc)
        private static let process = __priority_which_t(PRIO_PROCESS.rawValue)
        /// The nice value of the main thread, which never changes.
        private static let ofProcess = getpriority(process, id_t(getpid()))
    #endif
}
