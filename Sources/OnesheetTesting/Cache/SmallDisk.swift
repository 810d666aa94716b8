internal import Foundation
internal import Synchronization
package import XCTest

/// A small file system in memory, unmounted after the test. If this user may not mount it, the test is skipped.
package final class SmallDisk {
    /// Whether a mount has succeeded before in this process: then later failures are failures of the test.
    private static let isPermitted = Mutex(false)
    package let path: String

    package init(on folder: String, options: String) throws {
        path = folder
        do {
            try Self.run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder])
            Self.isPermitted.withLock { $0 = true }
        } catch let error as FixtureError where !Self.isPermitted.withLock({ $0 }) {
            throw XCTSkip("no file system can be mounted here: \(error)")
        }
    }

    package func path(_ name: String) -> String { "\(path)/\(name)" }

    package func remount(_ options: String) throws { try Self.run("mount", ["-o", "remount,\(options)", path]) }

    package func unmount() {
        do {
            try Self.run("umount", ["-l", path])
        } catch {
            XCTFail("\(path) stays mounted: \(error)")
        }
    }

    /// Fills the remaining space with one file.
    package func fill() throws {
        let filler = URL(filePath: path("filler"))
        try Data().write(to: filler)
        let file = try FileHandle(forWritingTo: filler)
        defer { file.closeFile() }
        var size = 1 << 20
        while size > 0 {
            do { try file.write(contentsOf: Data(count: size)) } catch { size /= 2 }
        }
    }

    /// Uses up the remaining inodes.
    package func fillInodes() {
        var number = 0
        while FileManager.default.createFile(atPath: path("filler-\(number)"), contents: nil) { number += 1 }
    }

    /// Removes the files that filled it.
    package func clear() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasPrefix("filler") {
            try FileManager.default.removeItem(atPath: path(name))
        }
    }

    /// - Throws: `FixtureError` if the program fails.
    package static func run(_ command: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [command] + arguments
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw FixtureError("\(command) \(arguments.joined(separator: " ")): \(complaint)")
        }
    }
}

extension XCTestCase {
    /// A small disk that is removed after the test.
    package func disk(_ options: String) throws -> SmallDisk {
        let folder = try TemporaryDirectory()
        addTeardownBlock { folder.remove() }
        let disk = try SmallDisk(on: folder.path, options: options)
        addTeardownBlock { disk.unmount() }
        return disk
    }
}
