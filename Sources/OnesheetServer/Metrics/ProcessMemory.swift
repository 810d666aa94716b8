import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the system says about this process.
enum ProcessMemory {
    /// Bytes in memory: the second number of Linux' `statm`, which counts pages; `nil` on systems without it.
    static var resident: Int? {
        do {
            let numbers = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            return numbers.count > 1 ? Int(numbers[1]).map { $0 * Int(getpagesize()) } : nil
        } catch {
            return nil
        }
    }
}
