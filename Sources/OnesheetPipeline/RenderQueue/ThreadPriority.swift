#if canImport(Glibc)
    import Glibc
#endif

enum ThreadPriority {
    /// Lowers the priority of this thread, if it has not, so that threads that send responses run first.
    ///
    /// On Linux each thread has a nice value, contrary to POSIX: see setpriority(2). No effect on other systems.
    static func yieldToOthers() {
        #if canImport(Glibc)
            // Every process may raise its own nice value.
            setpriority(process, 0, lower)
        #endif
    }

    #if canImport(Glibc)
        private static let process = __priority_which_t(PRIO_PROCESS.rawValue)
        /// Ten more than the nice value with which threads of this process begin.
        private static let lower = min(getpriority(process, 0) + 10, 19)
    #endif
}
