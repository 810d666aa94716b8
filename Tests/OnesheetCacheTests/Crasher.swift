import Foundation
import XCTest

/// The test program that works on a cache until it is killed.
final class Crasher {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    init(folder: String, seed: Int) throws {
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "Crasher")
        process.arguments = ["cache", folder, "\(seed)"]
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    /// Waits until the program has done this many operations.
    /// - Returns: the number of operations; fewer if it ended earlier.
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

    /// Kills the program and waits until it has ended.
    /// - Returns: its messages so far.
    func kill() -> String {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        output.fileHandleForReading.closeFile()
        return String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}
