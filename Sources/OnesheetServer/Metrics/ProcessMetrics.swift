import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The metrics that Prometheus' client libraries have for every process, from Linux's `/proc` (proc(5)). Empty on other systems.
struct ProcessMetrics {
    /// The fields of `/proc/self/stat` after the name of the program, which may have spaces.
    private let fields: [Double]

    init() {
        let text = Self.text("/proc/self/stat")
        let rest = text.lastIndex(of: ")").map { text[text.index(after: $0)...] } ?? ""
        fields = rest.split(separator: " ").map { Double($0) ?? 0 }
    }

    func write(to text: inout MetricList) {
        // The first field is the third of the file.
        guard fields.count > 21 else { return }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        text.add(
            .counter, "cpu_seconds_total", prefix: "process_", help: "User and system time of the process in seconds.",
            samples: [.init((fields[11] + fields[12]) / ticks)])
        gauge("virtual_memory_bytes", help: "Virtual memory in bytes.", .init(Int(fields[20])), in: &text)
        gauge("resident_memory_bytes", help: "Resident memory in bytes.", .init(Int(fields[21]) * Int(getpagesize())), in: &text)
        gauge("threads", help: "Threads.", .init(Int(fields[17])), in: &text)
        if let booted = Self.bootTime {
            gauge(
                "start_time_seconds", help: "Start of the process in seconds since 1970.", .init(booted + fields[19] / ticks),
                in: &text)
        }
        do {
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            gauge("open_fds", help: "Open file descriptors.", .init(open), in: &text)
        } catch {
            // A process without descriptors to list its own is in trouble enough; the other metrics go on.
            return
        }
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        if getrlimit(resource, &limit) == 0 {
            gauge("max_fds", help: "Maximum number of open file descriptors.", .init(limit.rlim_cur), in: &text)
        }
    }

    private func gauge(_ name: String, help: String, _ sample: MetricList.Sample, in text: inout MetricList) {
        text.add(.gauge, name, prefix: "process_", help: help, samples: [sample])
    }

    /// Seconds since 1970.
    private static var bootTime: Double? {
        text("/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }.flatMap { Double($0.dropFirst("btime ".count)) }
    }

    /// The text of a file; empty if there is none.
    private static func text(_ path: String) -> String {
        do { return try String(contentsOfFile: path, encoding: .utf8) } catch { return "" }
    }
}
