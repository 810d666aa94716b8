import ConfigurationYAML
import FolderStore
import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

final class FolderStoreTests: XCTestCase {
    private func folder() throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        addTeardownBlock { folder.remove() }
        return folder
    }

    private func store(_ path: String, deadline: Interval? = nil) throws -> FolderStore {
        let store = try FolderStore(.init(path: path, deadline: deadline), context: .forTesting())
        addTeardownBlock { await store.shutdown() }
        return store
    }

    private func error(_ body: () async throws -> Void) async -> StoreError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    func testThatItDoesWhatEveryStoreHasToDo() async throws {
        let folder = try folder()

        let report = await ObjectStoreConformance(try store(folder.path)).run()

        XCTAssertEqual(report.failures.map(\.description), [])
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".locks") }
        XCTAssertEqual(left, [".tmp"], "folders or files are left behind")
    }

    func testThatTwoServersSeeOneStore() async throws {
        // Given
        let folder = try folder()
        let (first, second) = (try store(folder.path), try store(folder.path))
        // When
        let revision = try await first.put(ByteBuffer(string: "a"), as: "v2/x/o-1", if: .none)
        // Then
        let found = try await second.object("v2/x/o-1", limit: 10)
        XCTAssertEqual(found?.body, ByteBuffer(string: "a"))
        XCTAssertEqual(found?.revision, revision)
        let late = try await second.put(ByteBuffer(string: "b"), as: "v2/x/o-1", if: .absent)
        XCTAssertNil(late)
    }

    func testThatNamesStayInTheFolder() async throws {
        // Given a store in a folder of its own
        let outer = try folder()
        let path = outer.path("store")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let store = try store(path)
        // When names try to leave it, or to meet the store's own files
        for name in ["../a", "/a", "x/../../a", "a/..", ".tmp/a", ".locks/1", "%2E%2E/a", "a\0b"] {
            _ = try await store.put(ByteBuffer(string: name), as: name, if: .none)
        }
        // Then everything is below it, under its own name
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: outer.path), ["store"])
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: path + "/.tmp"), [])
        let listed = try await store.list(prefix: "", after: nil, limit: 100).items.map(\.name)
        XCTAssertEqual(listed, ["%2E%2E/a", "../a", ".locks/1", ".tmp/a", "/a", "a\0b", "a/..", "x/../../a"])
    }

    func testThatForeignFilesAndLinksAreNoObjects() async throws {
        // Given a folder with things that the store did not make
        let folder = try folder()
        let store = try store(folder.path)
        _ = try await store.put(ByteBuffer(string: "mine"), as: "a/mine", if: .none)
        try FileManager.default.createSymbolicLink(atPath: folder.path("a/link"), withDestinationPath: "/etc/passwd")
        try FileManager.default.createSymbolicLink(atPath: folder.path("b"), withDestinationPath: folder.path("a"))
        for name in ["ä", "%FF", "%e4", "%2", ".hidden"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path("a/\(name)")))
        }
        XCTAssertEqual(mkfifo(folder.path("a/pipe"), 0o600), 0)
        // When
        let listed = try await store.list(prefix: "", after: nil, limit: 100).items.map(\.name)
        var found: [String] = []
        for name in ["a/link", "a/pipe", "a"] where try await store.object(name, limit: 1 << 20) != nil { found.append(name) }
        // Then
        XCTAssertEqual(listed, ["a/mine"])
        XCTAssertEqual(found, [])
    }

    func testThatAFileThatIsNoObjectIsReadAsItIsAndCanBeReplaced() async throws {
        // Given files that were cut off or are of something else
        let folder = try folder()
        let store = try store(folder.path)
        for (name, text) in [("cut", "onesheet obj"), ("empty", ""), ("other", String(repeating: "x", count: 100))] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path(name)))
            // When
            let found = try await store.object(name, limit: 1000)
            let start = try await store.start(of: name, count: 10, limit: 1000)
            let revision = try await store.put(ByteBuffer(string: "new"), as: name, if: .revision(found?.revision ?? ""))
            // Then
            XCTAssertEqual(found?.body.readableBytes, max(text.utf8.count - 51, 0), name)
            XCTAssertEqual(start, found.map { ObjectStart(of: $0.body, count: 10) }, name)
            XCTAssertNotNil(revision, name)
            let now = try await store.object(name, limit: 1000)?.body
            XCTAssertEqual(now, ByteBuffer(string: "new"), name)
        }
    }

    func testThatANameCannotBeTheFolderOfAnother() async throws {
        let store = try store(try folder().path)
        _ = try await store.put(ByteBuffer(string: "x"), as: "a/b", if: .none)

        let above = await error { _ = try await store.put(ByteBuffer(string: "x"), as: "a", if: .none) }
        let below = await error { _ = try await store.put(ByteBuffer(string: "x"), as: "a/b/c", if: .none) }

        XCTAssertEqual(above, .invalidName("a"))
        XCTAssertEqual(below, .invalidName("a/b/c"))
    }

    func testThatAMissingFolderIsAnErrorThatSaysWhatToDo() async throws {
        // Given
        let path = try folder().path("not/mounted")
        let store = try store(path)
        // When
        let written = await error { _ = try await store.put(ByteBuffer(string: "x"), as: "a", if: .none) }
        let probed = await error { _ = try await store.probe(prefix: "onesheet/") }
        let found = try await store.object("a", limit: 10)
        // Then
        let reason = "\(path) is not a folder; make it, or mount its file system"
        XCTAssertEqual(written, .unreachable(operation: "write", reason: reason))
        XCTAssertEqual(probed, .unreachable(operation: "write", reason: reason))
        XCTAssertNil(found)
        XCTAssertFalse(FileManager.default.fileExists(atPath: path), "it was made")
    }

    func testThatAWriterThatIsStoppedWithTheLockCostsOthersNoMoreThanTheDeadline() async throws {
        // Given every lock held elsewhere: locks exclude each other in one process too
        let folder = try folder()
        let store = try store(folder.path, deadline: Interval(.milliseconds(50)))
        _ = try await store.put(ByteBuffer(string: "old"), as: "a", if: .none)
        let held = (0..<64).map { open(folder.path(".locks/\($0)"), O_RDWR | O_CREAT, 0o600) }
        for descriptor in held { XCTAssertEqual(flock(descriptor, LOCK_EX), 0) }
        // When
        let written = await error { _ = try await store.put(ByteBuffer(string: "new"), as: "a", if: .none) }
        let deleted = await error { try await store.delete(["a"]) }
        let read = try await store.object("a", limit: 10)?.body
        for descriptor in held { close(descriptor) }
        // Then
        XCTAssertEqual(written, .timedOut(operation: "put"))
        XCTAssertEqual(deleted, .timedOut(operation: "delete"))
        XCTAssertEqual(read, ByteBuffer(string: "old"))
    }

    func testThatWhatKilledServersLeftIsRemovedAfterAnHour() async throws {
        // Given an old file and a new one under way
        let folder = try folder()
        let store = try store(folder.path)
        _ = try await store.put(ByteBuffer(string: "x"), as: "a", if: .none)
        for name in ["old", "new"] { try Data("half".utf8).write(to: URL(fileURLWithPath: folder.path(".tmp/\(name)"))) }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: folder.path(".tmp/old"))
        // When
        let abilities = try await store.probe(prefix: "onesheet/")
        // Then
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path(".tmp")), ["new"])
        XCTAssertEqual(abilities, StoreAbilities(hasConditions: true))
    }

    func testThatALinkInPlaceOfItsOwnFolderLosesNothing() async throws {
        // Given a store in which somebody has put a link to another folder
        let (folder, other) = (try folder(), try self.folder())
        let store = try store(folder.path)
        _ = try await store.put(ByteBuffer(string: "x"), as: "a", if: .none)
        let treasure = other.path("treasure")
        try Data("x".utf8).write(to: URL(fileURLWithPath: treasure))
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: treasure)
        try FileManager.default.removeItem(atPath: folder.path(".tmp"))
        try FileManager.default.createSymbolicLink(atPath: folder.path(".tmp"), withDestinationPath: other.path)
        // When it removes what killed servers have left
        do {
            let abilities = try await store.probe(prefix: "onesheet/")
            XCTFail("\(abilities)")
        } catch {}
        // Then it removes nothing there
        XCTAssertTrue(FileManager.default.fileExists(atPath: treasure))
    }

    func testThatWritersThatAreKilledLeaveNoHalfObject() async throws {
        let folder = try folder()
        let store = try store(folder.path)
        var found = 0
        for round in 1...20 {
            // Given a program that writes and deletes without end
            let (program, output) = (Process(), Pipe())
            program.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "Crasher")
            program.arguments = ["store", folder.path]
            program.standardOutput = output
            try program.run()
            // When it is killed
            var done = 0
            while done < 20, case let data = output.fileHandleForReading.availableData, !data.isEmpty { done += data.count }
            kill(program.processIdentifier, SIGKILL)
            program.waitUntilExit()
            // Then every object is whole, and none is locked
            XCTAssertGreaterThanOrEqual(done, 20, "round \(round) ended by itself")
            for item in try await store.list(prefix: "a/", after: nil, limit: 100).items {
                let body = try await store.object(item.name, limit: 1 << 20)?.body
                let number = Int(try XCTUnwrap(body?.readableBytesView.first, "\(item)"))
                XCTAssertEqual(body, ByteBuffer(repeating: UInt8(number), count: 1000 * (number + 1)), "\(item)")
                found += 1
                let revision = try await store.put(ByteBuffer(repeating: 0, count: 1000), as: item.name, if: .none)
                XCTAssertNotNil(revision)
            }
        }
        XCTAssertGreaterThan(found, 20, "too few objects for this to say anything")
    }

    func testThatTheSampleConfigurationIsValid() throws {
        let value = try ConfigurationValue(yaml: FolderStore.sampleConfiguration)

        let configuration = try ConfigurationDecoder().decode(FolderStore.Configuration.self, from: value)

        XCTAssertEqual(configuration.path, "/mnt/posters/onesheet")
        XCTAssertEqual(configuration.deadline, Interval(.seconds(5)))
        XCTAssertThrowsError(try FolderStore(.init(path: ""), context: .forTesting())) {
            XCTAssertEqual("\($0)", "path: needs the path of a folder, such as /mnt/posters/onesheet")
        }
        XCTAssertThrowsError(try FolderStore(.init(path: "a", deadline: Interval(.zero)), context: .forTesting())) {
            XCTAssertEqual("\($0)", "deadline: must be greater than 0, such as 5s")
        }
    }
}
