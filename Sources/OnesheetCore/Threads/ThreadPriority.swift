internal import CLinux

#if canImport(Glibc)
    internal import Glibc
#endif

/// The priority of a thread, relative to that of the process, so that responses wait less for the processor.
///
/// On Linux each thread has a nice value, contrary to POSIX: see setpriority(2). No effect on other systems.
package enum ThreadPriority: Int32 {
    /// For event loops of clients. Takes a right: root, or a limit such as `LimitNICE=-5` (RLIMIT_NICE).
    case clients = -5
    /// For requests that no event loop answers, the files of the disk cache, and connections to origins.
    case requests = 5
    /// For work that may take long, such as renders, plugins, and the decompression of what origins send.
    case work = 10

    /// Gives this thread the priority until it ends, if the process has the right. A new thread has the priority of the one that started it;
    /// if that has `clients`, the new one has at least the nice value 0.
    package func apply() {
        #if canImport(Glibc)
            let nice = min(max(Self.ofProcess + rawValue, -20), 19)
            // Every process may raise its nice values, but few may lower them. If that fails, the thread keeps its own.
            if self == .clients {
                _ = cthreads_set_own_nice(nice)
            } else {
                setpriority(Self.process, 0, nice)
            }
        #endif
    }

    #if canImport(Glibc)
        private static let process = __priority_which_t(PRIO_PROCESS.rawValue)
        /// The nice value of the main thread, which never changes.
        private static let ofProcess = getpriority(process, id_t(getpid()))
    #endif
}
