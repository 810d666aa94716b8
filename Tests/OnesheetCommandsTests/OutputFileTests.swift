import Foundation
import NIOCore
import XCTest

@testable import OnesheetCommands

/// Files that `bundle` and `render` write.
final class OutputFileTests: XCTestCase {
    private var folder = URL(filePath: "/")

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { [folder] in try FileManager.default.removeItem(at: folder) }
    }

    func testThatAPipeReceivesTheBytesAndStaysAPipe() async throws {
        // Given a pipe with a reader
        XCTAssertEqual(mkfifo(path("pipe"), 0o600), 0)
        let reader = open(path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        XCTAssertGreaterThanOrEqual(reader, 0)
        // When it is written to
        try await write("new", to: "pipe")
        // Then the reader gets the bytes, and the pipe is not replaced
        var bytes = [UInt8](repeating: 0, count: 8)
        let count = read(reader, &bytes, bytes.count)
        XCTAssertEqual(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self), "new")
        XCTAssertEqual(try status("pipe").st_mode & S_IFMT, S_IFIFO)
        XCTAssertEqual(try names(), ["pipe"])
    }

    func testThatCancellationEndsTheWaitForAReader() async throws {
        // Given a pipe without a reader
        XCTAssertEqual(mkfifo(path("pipe"), 0o600), 0)
        let pipe = path("pipe")
        let work = Task { _ = try await OutputFile(pipe) }
        // When the command is cancelled
        work.cancel()
        // Then it ends
        guard case .failure(let error) = await work.result else { return XCTFail("it was opened") }
        XCTAssertTrue(error is CancellationError, "\(error)")
    }

    func testThatAFolderIsNotReplaced() async throws {
        try FileManager.default.createDirectory(at: folder.appending(path: "a"), withIntermediateDirectories: false)
        do {
            _ = try await OutputFile(path("a"))
            XCTFail("it was opened")
        } catch {
            XCTAssertEqual("\(error)", "cannot write \(path("a")): Is a directory")
        }
        XCTAssertEqual(try names(), ["a"])
    }

    func testThatLinksAreFollowed() async throws {
        // Given a link to a link to a file in another folder, and a link to nothing
        try FileManager.default.createDirectory(at: folder.appending(path: "kept"), withIntermediateDirectories: false)
        try Data("old".utf8).write(to: folder.appending(path: "kept/a"))
        for (link, target) in [("first", "second"), ("second", "kept/a"), ("nothing", "kept/b")] {
            try FileManager.default.createSymbolicLink(atPath: path(link), withDestinationPath: target)
        }
        // When the links are written to
        try await write("new", to: "first")
        try await write("newer", to: "nothing")
        // Then their targets have the bytes, and the links stay
        XCTAssertEqual(try text("kept/a"), "new")
        XCTAssertEqual(try text("kept/b"), "newer")
        for link in ["first", "second", "nothing"] {
            XCTAssertEqual(try status(link).st_mode & S_IFMT, S_IFLNK, link)
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: path("kept")).sorted(), ["a", "b"])
    }

    func testThatACircleOfLinksIsAnError() async throws {
        try FileManager.default.createSymbolicLink(atPath: path("a"), withDestinationPath: "a")
        do {
            _ = try await OutputFile(path("a"))
            XCTFail("it was opened")
        } catch {
            XCTAssertTrue("\(error)".hasPrefix("cannot write \(path("a")): "), "\(error)")
        }
    }

    func testThatAFileKeepsItsPermissions() async throws {
        for mode: mode_t in [0o600, 0o640, 0o755] {
            // Given a file with permissions
            try Data("old".utf8).write(to: folder.appending(path: "a"))
            XCTAssertEqual(chmod(path("a"), mode), 0)
            // When it is replaced
            try await write("new", to: "a")
            // Then the new one has the same
            XCTAssertEqual(try text("a"), "new")
            XCTAssertEqual(try status("a").st_mode & 0o7777, mode)
        }
    }

    func testThatTwoWritersOfOneFileBothEndWell() async throws {
        // Given two commands that write to one file at once
        let (first, second) = (try await OutputFile(path("a")), try await OutputFile(path("a")))
        try first.write(ByteBuffer(string: "fir"))
        try second.write(ByteBuffer(string: "second"))
        try first.write(ByteBuffer(string: "st"))
        // When each ends, then the file has the whole content of the last one
        try first.finish()
        XCTAssertEqual(try text("a"), "first")
        try second.finish()
        XCTAssertEqual(try text("a"), "second")
        XCTAssertEqual(try names(), ["a"])
    }

    func testThatAnUnfinishedFileLeavesNothing() async throws {
        // Given a file
        try Data("old".utf8).write(to: folder.appending(path: "a"))
        // When another command gives up while it writes there
        try await giveUp(on: "a")
        // Then the file is unchanged and alone
        XCTAssertEqual(try text("a"), "old")
        XCTAssertEqual(try names(), ["a"])
    }

    private func write(_ text: String, to name: String) async throws {
        let file = try await OutputFile(path(name))
        try file.write(ByteBuffer(string: text))
        try file.finish()
    }

    private func giveUp(on name: String) async throws {
        let file = try await OutputFile(path(name))
        try file.write(ByteBuffer(string: "half"))
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appending(path: name)), as: UTF8.self)
    }

    /// The facts about the item itself, not about the target of a link.
    private func status(_ name: String) throws -> stat {
        var status = stat()
        guard lstat(path(name), &status) == 0 else { throw POSIXError(.ENOENT) }
        return status
    }
}
