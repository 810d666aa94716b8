#if canImport(Glibc)
    import Glibc
#endif

enum ThreadPriority {
    /// Lets threads that answer run before this one, from now on: what is there already should not wait for pixels.
    ///
    /// Linux has a niceness for each thread, whatever POSIX says: see setpriority(2). Elsewhere nothing changes.
    static func yieldToOthers() {
        #if canImport(Glibc)
            // Every process may be nicer than it is.
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
        #endif
    }
}
