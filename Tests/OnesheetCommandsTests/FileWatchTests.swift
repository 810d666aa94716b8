import Foundation
import Synchronization
import XCTest

@testable import OnesheetCommands

final class FileWatchTests: XCTestCase {
    private let file = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)")

    override func tearDownWithError() throws {
        if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
    }

    func testThatAChangeIsToldOnceItIsOver() throws {
        // Given a file
        try Data("a".utf8).write(to: file)
        var watch = FileWatch([file.path])
        XCTAssertFalse(watch.poll())
        // When it is written in two steps
        try Data("bb".utf8).write(to: file)
        XCTAssertFalse(watch.poll())
        try Data("ccc".utf8).write(to: file)
        XCTAssertFalse(watch.poll())
        // Then one change is reported, once the file is stable
        XCTAssertTrue(watch.poll())
        XCTAssertFalse(watch.poll())
    }

    func testThatComingAndGoingIsAChangeToo() throws {
        var watch = FileWatch([file.path])
        XCTAssertFalse(watch.poll())
        try Data("a".utf8).write(to: file)
        XCTAssertEqual([watch.poll(), watch.poll(), watch.poll()], [false, true, false])
        try FileManager.default.removeItem(at: file)
        XCTAssertEqual([watch.poll(), watch.poll(), watch.poll()], [false, true, false])
    }

    func testThatWhatIsTakenBackAtOnceIsNone() throws {
        var watch = FileWatch([file.path])
        try Data("a".utf8).write(to: file)
        XCTAssertFalse(watch.poll())
        try FileManager.default.removeItem(at: file)
        XCTAssertFalse(watch.poll())
        XCTAssertFalse(watch.poll())
    }

    func testThatTheFilesToWatchMayChange() throws {
        // Given two files of which one is watched
        let more = URL(filePath: file.path + "-more")
        addTeardownBlock { try FileManager.default.removeItem(at: more) }
        for file in [file, more] { try Data("a".utf8).write(to: file) }
        let files = Mutex([file.path])
        var watch = FileWatch { files.withLock { $0 } }
        XCTAssertFalse(watch.poll())
        // When the other is watched instead
        files.withLock { $0 = [more.path] }
        // Then that is no change, and only changes of that file are
        XCTAssertEqual([watch.poll(), watch.poll()], [false, false])
        try Data("bb".utf8).write(to: file)
        XCTAssertEqual([watch.poll(), watch.poll()], [false, false])
        try Data("bb".utf8).write(to: more)
        XCTAssertEqual([watch.poll(), watch.poll(), watch.poll()], [false, true, false])
    }

    func testThatALinksTargetCounts() throws {
        // Like mounted files in containers: the link stays, and its target changes.
        let targets = ["1", "2"].map { file.path + $0 }
        addTeardownBlock { for target in targets { try FileManager.default.removeItem(atPath: target) } }
        for target in targets { try Data("same".utf8).write(to: URL(filePath: target)) }
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: targets[0])
        var watch = FileWatch([file.path])
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: targets[1])
        XCTAssertEqual([watch.poll(), watch.poll()], [false, true])
    }
}
