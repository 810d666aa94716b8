import Foundation
import OnesheetCache
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
        var watch = FileWatch([file])
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
        var watch = FileWatch([file])
        XCTAssertFalse(watch.poll())
        try Data("a".utf8).write(to: file)
        XCTAssertEqual([watch.poll(), watch.poll(), watch.poll()], [false, true, false])
        try FileManager.default.removeItem(at: file)
        XCTAssertEqual([watch.poll(), watch.poll(), watch.poll()], [false, true, false])
    }

    func testThatWhatIsTakenBackAtOnceIsNone() throws {
        var watch = FileWatch([file])
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
        let files = Mutex(FileStamp.now([file.path]))
        var watch = FileWatch { files.withLock { $0 } }
        XCTAssertFalse(watch.poll())
        // When the other is watched instead
        files.withLock { $0 = FileStamp.now([more.path]) }
        // Then that is no change, and only changes of that file are
        XCTAssertEqual([watch.poll(), watch.poll()], [false, false])
        try Data("bb".utf8).write(to: file)
        XCTAssertEqual([watch.poll(), watch.poll()], [false, false])
        try Data("bb".utf8).write(to: more)
        XCTAssertEqual([watch.poll(), watch.poll(), watch.poll()], [false, true, false])
    }

    func testThatAFileThatIsReplacedRightAfterItsReadingHasChanged() throws {
        // Given a configuration that has just been reloaded, and names another file
        let more = URL(filePath: file.path + "-more")
        addTeardownBlock { try FileManager.default.removeItem(at: more) }
        for file in [file, more] { try Data("a".utf8).write(to: file) }
        let files = Mutex(FileStamp.now([file.path]))
        var watch = FileWatch { files.withLock { $0 } }
        let read = FileStamp.now([file.path, more.path])
        // When that is replaced before the next poll
        try Data("bb".utf8).write(to: more)
        files.withLock { $0 = read }
        // Then this is a change, which is reported once
        XCTAssertEqual([watch.poll(), watch.poll(), watch.poll()], [false, true, false])
    }

    func testChangeThatASignalHasReadIsNotReported() throws {
        // Given a change that the watch has seen and not reported yet
        try Data("a".utf8).write(to: file)
        let files = Mutex(FileStamp.now([file.path]))
        var watch = FileWatch { files.withLock { $0 } }
        try Data("bb".utf8).write(to: file)
        XCTAssertFalse(watch.poll())
        // When the file is read for another reason
        files.withLock { $0 = FileStamp.now([file.path]) }
        // Then only the next change is reported
        XCTAssertEqual([watch.poll(), watch.poll()], [false, false])
        try Data("ccc".utf8).write(to: file)
        XCTAssertEqual([watch.poll(), watch.poll(), watch.poll()], [false, true, false])
    }

    func testThatAFileThatIsReplacedBeforeTheFirstPollHasChanged() throws {
        try Data("a".utf8).write(to: file)
        let read = FileStamp.now([file.path])
        try Data("bb".utf8).write(to: file)
        var watch = FileWatch { read }
        XCTAssertEqual([watch.poll(), watch.poll()], [true, false])
    }

    func testThatAFileOfTheSameSizeAndTimeHasChanged() throws {
        // Given a file
        try Data("a".utf8).write(to: file)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        let time = try XCTUnwrap(attributes[.modificationDate] as? Date)
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file.path)
        var watch = FileWatch([file])
        let before = FileStamp(file.path)
        // When it is overwritten with as many bytes, and its time is set back; a file system may count time in steps of milliseconds
        var tries = 0
        while FileStamp(file.path) == before, tries < 100_000 {
            try Data("b".utf8).write(to: file)
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file.path)
            tries += 1
        }
        // Then it has changed
        XCTAssertEqual([watch.poll(), watch.poll()], [false, true])
    }

    func testThatALinksTargetCounts() throws {
        // Like mounted files in containers: the link stays, and its target changes.
        let targets = ["1", "2"].map { file.path + $0 }
        addTeardownBlock { for target in targets { try FileManager.default.removeItem(atPath: target) } }
        for target in targets { try Data("same".utf8).write(to: URL(filePath: target)) }
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: targets[0])
        var watch = FileWatch([file])
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: targets[1])
        XCTAssertEqual([watch.poll(), watch.poll()], [false, true])
    }
}

extension FileWatch {
    /// Watches files that have not changed since they were read.
    fileprivate init(_ files: [URL]) {
        let read = FileStamp.now(files.map(\.path))
        self.init { read }
    }
}
