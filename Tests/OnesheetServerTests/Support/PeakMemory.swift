import Foundation
import Glibc
import XCTest

/// The peak memory of this process, which includes the servers, and memory that was released since.
enum PeakMemory {
    /// Resets the peak (proc(5), `/proc/pid/clear_refs`).
    /// - Returns: the resident bytes.
    static func begin() throws -> Int {
        // Free memory that is still resident would hide new allocations.
        giveBackWhatIsFree()
        let file = try FileHandle(forWritingTo: URL(filePath: "/proc/self/clear_refs"))
        defer { file.closeFile() }
        try file.write(contentsOf: Data("5".utf8))
        return try now()
    }

    /// Calls malloc_trim(3), which Swift's Glibc does not import.
    private static func giveBackWhatIsFree() {
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
    }

    /// The resident bytes.
    private static func now() throws -> Int { try bytes("VmRSS:") }

    /// The peak since the reset, in bytes.
    static func end() throws -> Int { try bytes("VmHWM:") }

    private static func bytes(_ name: String) throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let line = try XCTUnwrap(lines.first { $0.hasPrefix(name) })
        return try XCTUnwrap(line.split(separator: " ").compactMap { Int($0) }.first) << 10
    }
}
