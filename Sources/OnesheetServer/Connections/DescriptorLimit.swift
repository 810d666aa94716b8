#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// How many files the process may have open (getrlimit(2), RLIMIT_NOFILE), and how many connections fit into that.
struct DescriptorLimit {
    let files: Int

    init(files: Int) { self.files = files }

    /// Raises the limit as far as the system lets every process, which is more than what many are started with.
    static func raised() -> DescriptorLimit {
        var limit = rlimit()
        #if canImport(Glibc)
            let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let files = RLIMIT_NOFILE
        #endif
        guard getrlimit(files, &limit) == 0 else { return DescriptorLimit(files: 1024) }
        if limit.rlim_cur < limit.rlim_max {
            var more = limit
            more.rlim_cur = min(limit.rlim_max, rlim_t(most))
            if more.rlim_cur > limit.rlim_cur, setrlimit(files, &more) == 0 { limit = more }
        }
        return DescriptorLimit(files: Int(min(limit.rlim_cur, rlim_t(most))))
    }

    /// Connections that fit: each may be sent a file, and what is left over is for the cache, for origins and for plugins.
    var connections: Int { max(8, (files - min(256, files / 2)) / 2) }

    /// More is of no use, and some programs that plugins start look at each.
    private static let most = 1 << 18
}
