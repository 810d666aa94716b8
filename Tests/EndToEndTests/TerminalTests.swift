import Foundation
import JPEGCodec
import OnesheetTesting
import XCTest

/// What commands print on a terminal.
final class TerminalTests: CommandTestCase {
    private let red = "\u{1B}[31m"
    /// Requests of Linux (ioctl_tty(2)): TIOCSPTLCK and TIOCGPTN.
    private static let unlock = UInt(0x4004_5431)
    private static let getNumber = UInt(0x8004_5430)

    func testThatErrorsAndWarningsAreColouredOnATerminal() async throws {
        // Given a configuration with an error, and one with a warning
        try Data("limits: { workers: 0 }\nsources: { a: { type: sample } }\n".utf8).write(to: folder.appending(path: "bad.yaml"))
        // When they are checked on a terminal
        let bad = try await onTerminal(["config", "check", "--config", "bad.yaml"])
        let warned = try await onTerminal(["config", "check", "--cache", "c"])
        let failed = try await onTerminal(["render", "none.jpg", "-o", "out.png"])
        let usage = try await onTerminal(["prefetch"])
        // Then the beginning of each line has a colour, and the key is bold
        XCTAssertEqual(
            bad, "\(red)bad.yaml:1:20:\u{1B}[0m \u{1B}[1mlimits.workers:\u{1B}[0m needs at least 1\r\n")
        XCTAssertTrue(warned.hasPrefix("\u{1B}[33mWarning:\u{1B}[0m “unsafe” is accepted"), warned)
        XCTAssertEqual(failed, "\(red)onesheet:\u{1B}[0m cannot read none.jpg: the file does not exist\r\n")
        XCTAssertTrue(usage.hasPrefix("\(red)Error:\u{1B}[0m "), usage)
    }

    func testThatColoursCanBeSwitchedOff() async throws {
        for environment in [["NO_COLOR": "1"], ["TERM": "dumb"], ["TERM": ""]] {
            // When a command fails on a terminal whose user wants no colours
            let text = try await onTerminal(["render", "none.jpg", "-o", "out.png"], environment)
            // Then it prints none
            XCTAssertEqual(text, "onesheet: cannot read none.jpg: the file does not exist\r\n", "\(environment)")
        }
        // And an empty variable says nothing (https://no-color.org)
        let text = try await onTerminal(["prefetch"], ["NO_COLOR": ""])
        XCTAssertTrue(text.hasPrefix(red), text)
    }

    func testThatAProgressHasAColourOnlyForFailures() async throws {
        let text = try await onTerminal(["prefetch", "sample", "--id", "1", "--id", "nobody", "--sizes", "w92", "--cache", "c"])
        XCTAssertTrue(text.contains("\(red)1 failed\u{1B}[0m"), text)
        XCTAssertTrue(text.contains("\(red)failed:\u{1B}[0m sample://nobody: "), text)
        XCTAssertFalse(text.contains("\(red)0 failed"), text)
    }

    func testBundleShowsItsProgress() async throws {
        // When a bundle is made on a terminal
        let text = try await onTerminal(["bundle", "sample", "--sizes", "w92", "-o", "a.tar", "--cache", "c"])
        // Then a line says how far it is, and another one what was made
        XCTAssertTrue(text.contains("] 1/24  "), text)
        XCTAssertTrue(text.hasSuffix("0 failed\r\n24 posters\r\n"), text)
        // And a failure before that has no line
        let failed = try await onTerminal(["bundle", "nobody", "-o", "b.tar", "--cache", "c"])
        XCTAssertEqual(failed, "\(red)onesheet:\u{1B}[0m unknown source “nobody”; known: sample\r\n")
    }

    func testThatNoFileIsWrittenToATerminalUnlessForced() async throws {
        try Data(DrawnPoster(width: 20, height: 30).file(JPEGCodec())).write(to: folder.appending(path: "in.jpg"))
        // When standard output is a terminal, then commands that write files there fail
        for arguments in [
            ["render", "in.jpg", "-o", "-"], ["bundle", "sample", "--sizes", "w92", "-o", "-", "--cache", "c"],
        ] {
            let text = try await onTerminal(arguments, isOutput: true)
            XCTAssertEqual(
                text,
                "\(red)onesheet:\u{1B}[0m standard output is a terminal; name a file, pipe the output, or add --force\r\n")
        }
        // And if it is wanted, the picture comes
        let picture = try await onTerminal(["render", "in.jpg", "-o", "-", "--force", "--options", "f:jpg"], isOutput: true)
        XCTAssertTrue(picture.contains("JFIF"), picture)
    }

    /// What a command prints on standard error, which is a terminal.
    /// - Parameter isOutput: whether standard output is the same terminal.
    private func onTerminal(
        _ arguments: [String], _ environment: [String: String] = [:], isOutput: Bool = false
    ) async throws -> String {
        // A new pseudoterminal (pts(4)): its number, and the permission to open its other end.
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        guard terminal >= 0 else { throw POSIXError(.ENXIO) }
        defer { close(terminal) }
        var (number, isLocked) = (UInt32(0), Int32(0))
        guard ioctl(terminal, Self.unlock, &isLocked) == 0, ioctl(terminal, Self.getNumber, &number) == 0 else {
            throw POSIXError(.ENXIO)
        }
        let line = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        guard line >= 0 else { throw POSIXError(.ENXIO) }
        let terminalEnd = FileHandle(fileDescriptor: line, closeOnDealloc: false)
        let command = try Program.start(
            arguments, in: folder, output: isOutput ? terminalEnd : FileHandle.nullDevice, errors: terminalEnd,
            environment: ["TERM": "xterm"].merging(environment) { $1 })
        close(line)
        let text = await Self.text(of: terminal)
        command.waitUntilExit()
        return text
    }

    /// Everything until the last program on the terminal has ended.
    private static func text(of terminal: Int32) async -> String {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                var bytes: [UInt8] = []
                var part = [UInt8](repeating: 0, count: 4096)
                while case let count = read(terminal, &part, part.count), count > 0 { bytes += part[..<count] }
                done.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}
