internal import CLinux
internal import FoundationEssentials

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The limits of each of a program's processes.
struct ProgramLimits: Sendable {
    /// Bytes of memory that it can write.
    var memory: Int
    /// Open files.
    var files: Int
    /// Processor time of its life; `nil` is no limit.
    var processorTime: Duration?

    /// Limits a running process, and those that it starts later.
    /// - Returns: the reason if the system refuses.
    func apply(to process: Int32) -> String? {
        let seconds = UInt64(processorTime?.components.seconds ?? 0)
        let error = cexec_limit(process, UInt64(memory), UInt64(files), seconds)
        return error == 0 ? nil : String(cString: strerror(error))
    }
}
