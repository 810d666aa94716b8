import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The memory of this process.
enum ProcessMemory {
    /// Resident memory in bytes, from the second field of Linux's `statm`, which counts pages. `nil` on other systems.
    static var resident: Int? {
        do {
            let numbers = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            return numbers.count > 1 ? Int(numbers[1]).map { $0 * Int(getpagesize()) } : nil
        } catch {
            return nil
        }
    }
}
