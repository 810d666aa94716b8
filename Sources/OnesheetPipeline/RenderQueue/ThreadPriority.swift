#if canImport(Glibc)
    import Glibc
#endif

enum ThreadPriority {
    /// Lowers the priority of this thread, so that threads that send responses run first.
    ///
    /// On Linux each thread has a nice value, contrary to POSIX: see setpriority(2). No effect on other systems.
    static func yieldToOthers() {
        #if canImport(Glibc)
            // Every process may raise its own nice value.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        #endif
    }
}
