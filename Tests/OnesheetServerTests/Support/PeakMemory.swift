import Foundation
import Glibc
import XCTest

/// The most memory that this process, in which the servers run, has had at the same time: also what was given back before anyone looked.
enum PeakMemory {
    /// Forgets earlier peaks (proc(5), `/proc/pid/clear_refs`).
    /// - Returns: bytes that are resident now.
    static func begin() throws -> Int {
        // What is free already and still resident would else hide as much of what comes.
        giveBackWhatIsFree()
        let file = try FileHandle(forWritingTo: URL(filePath: "/proc/self/clear_refs"))
        defer { file.closeFile() }
        try file.write(contentsOf: Data("5".utf8))
        return try now()
    }

    /// Calls malloc_trim(3), which Swift's Glibc leaves out.
    private static func giveBackWhatIsFree() {
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
    }

    /// Bytes that are resident now.
    static func now() throws -> Int { try bytes("VmRSS:") }

    /// The peak since it began, in bytes.
    static func end() throws -> Int { try bytes("VmHWM:") }

    private static func bytes(_ name: String) throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let line = try XCTUnwrap(lines.first { $0.hasPrefix(name) })
        return try XCTUnwrap(line.split(separator: " ").compactMap { Int($0) }.first) << 10
    }
}
