#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The process's limit of open files (getrlimit(2), RLIMIT_NOFILE), and the number of connections that fit.
struct DescriptorLimit {
    let files: Int

    init(files: Int) { self.files = files }

    /// Raises the soft limit to the hard limit, within `maxFiles`.
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
            more.rlim_cur = min(limit.rlim_max, rlim_t(maxFiles))
            if more.rlim_cur > limit.rlim_cur, setrlimit(files, &more) == 0 { limit = more }
        }
        return DescriptorLimit(files: Int(min(limit.rlim_cur, rlim_t(maxFiles))))
    }

    /// The number of connections that fit: two descriptors per connection (the socket and a file to send), with a reserve for the
    /// cache, origins and plugins.
    var connections: Int { max(8, (files - min(256, files / 2)) / 2) }

    /// A higher limit has no use, and some programs that plugins start iterate over all descriptors.
    private static let maxFiles = 1 << 18
}
