import Foundation
import OnesheetTesting
import XCTest

/// A small file system in memory, unmounted after the test. Mounting needs rights that not every machine gives: then the test is skipped.
final class SmallDisk {
    let path: String

    init(on folder: String, options: String) throws {
        path = folder
        try Self.run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder])
    }

    func remount(_ options: String) throws { try Self.run("mount", ["-o", "remount,\(options)", path]) }

    func unmount() {
        do {
            try Self.run("umount", ["-l", path])
        } catch {
            XCTFail("\(path) stays mounted: \(error)")
        }
    }

    /// Fills what is left with one file.
    func fill() throws {
        let file = try FileHandle(forWritingTo: make("filler"))
        defer { file.closeFile() }
        var size = 1 << 20
        while size > 0 {
            do { try file.write(contentsOf: Data(count: size)) } catch { size /= 2 }
        }
    }

    /// Uses up the inodes that are left.
    func fillInodes() {
        var number = 0
        while FileManager.default.createFile(atPath: "\(path)/filler-\(number)", contents: nil) { number += 1 }
    }

    private func make(_ name: String) -> URL {
        _ = FileManager.default.createFile(atPath: "\(path)/\(name)", contents: nil)
        return URL(filePath: "\(path)/\(name)")
    }

    static func run(_ command: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [command] + arguments
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw XCTSkip("\(command) is not permitted here: \(complaint)") }
    }
}

extension SmallDisk {
    func path(_ name: String) -> String { "\(path)/\(name)" }
}

extension XCTestCase {
    /// A small disk that is gone after the test.
    func disk(_ options: String) throws -> SmallDisk {
        let folder = try temporaryDirectory()
        let disk = try SmallDisk(on: folder.path, options: options)
        addTeardownBlock { disk.unmount() }
        return disk
    }
}
