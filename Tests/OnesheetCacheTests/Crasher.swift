import Foundation
import XCTest

/// The program beside the tests that works on a cache until it is killed.
final class Crasher {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    init(folder: String, seed: Int) throws {
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "CacheCrasher")
        process.arguments = [folder, "\(seed)"]
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    /// Waits until the program has done so many operations.
    /// - Returns: how many it has done; fewer where it ended before.
    @discardableResult
    func wait(for operations: Int) -> Int {
        var count = 0
        while count < operations {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            count += data.count
        }
        return count
    }

    /// Ends it the hard way, and waits until it is gone.
    /// - Returns: what it complained about before.
    func kill() -> String {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        output.fileHandleForReading.closeFile()
        return String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}
