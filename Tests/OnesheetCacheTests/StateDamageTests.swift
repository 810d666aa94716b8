import Foundation
import OnesheetCache
import OnesheetTesting
import Synchronization
import XCTest

/// Decisions of administrators survive damage: all readable values are recovered, and the damaged file is kept.
final class StateDamageTests: XCTestCase {
    /// More than fits on a page.
    private let long = String(repeating: "포스터 ", count: 3000)

    func testThatWhateverBecomesOfTheFileItOpensAndKeepsWhatCanBeRead() async throws {
        for swap in Swap.allCases {
            // Given a state with many values
            let (path, other) = try await state()
            try swap.apply(to: "\(path)/state.sqlite", other: other)
            let log = LogRecorder()
            // When it is opened after damage
            let part = try StateStore(folder: path, logger: log.logger).part("posters")
            // Then it works, and logs the outcome once
            try await part.set("new", for: "after")
            let after = try await StateStore(folder: path, logger: log.logger).part("posters").value(for: "after")
            XCTAssertEqual(after, "new", "\(swap)")
            XCTAssertEqual(
                log.all.count { $0.contains("the state was damaged") && $0.contains("kept as") }, 1, "\(swap): \(log.all)")
            let kept = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("state.sqlite.damaged-") }
            XCTAssertFalse(kept.isEmpty, "\(swap)")
            if swap == .cut {
                let count = try await values(part)
                XCTAssertGreaterThan(count, 50, "half of the file is there")
            }
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: other), swap == .linked ? ["letter"] : [], "\(swap)")
            if swap == .linked { XCTAssertEqual(try Data(contentsOf: URL(filePath: "\(other)/letter")), Swap.treasure) }
        }
    }

    func testThatEveryValueIsReadWhereOnlyTheStartOfTheFileIsLost() async throws {
        for length in [1, 16, 100, 4096] {
            // Given a state whose first bytes are zero
            let (path, _) = try await state()
            try overwrite("\(path)/state.sqlite", 0..<length)
            // When it is opened
            let part = try StateStore(folder: path, logger: .silent).part("posters")
            // Then every value is present, including a long one, and no removed one
            let count = try await values(part)
            XCTAssertEqual(count, 200, "\(length)")
            let (found, removed) = (try await part.value(for: "long"), try await part.value(for: "removed"))
            XCTAssertEqual(found, long, "\(length)")
            XCTAssertNil(removed, "\(length)")
        }
    }

    func testThatWhereverAPageIsLostTheOthersValuesAreRead() async throws {
        let (first, _) = try await state()
        let pages = try Data(contentsOf: URL(filePath: "\(first)/state.sqlite")).count / 4096
        XCTAssertGreaterThan(pages, 8)
        for page in 0..<pages {
            let (path, _) = try await state()
            try overwrite("\(path)/state.sqlite", page * 4096..<(page + 1) * 4096)
            let count = try await values(try StateStore(folder: path, logger: .silent).part("posters"))
            XCTAssertGreaterThan(count, 100, "page \(page) of \(pages)")
        }
    }

    func testThatNoFlippedByteKeepsItFromOpening() async throws {
        let (first, _) = try await state(values: 5)
        let whole = try Data(contentsOf: URL(filePath: "\(first)/state.sqlite"))
        let directory = try temporaryDirectory()
        for place in Array(0..<110) + Array(stride(from: 110, to: whole.count, by: 397)) {
            let path = directory.path("\(place)")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            var flipped = whole
            flipped[place] ^= 1 << UInt8(place % 8)
            try flipped.write(to: URL(filePath: "\(path)/state.sqlite"))
            let part = try StateStore(folder: path, logger: .silent).part("posters")
            try await part.set("new", for: "after")
            let after = try await part.value(for: "after")
            XCTAssertEqual(after, "new", "byte \(place)")
        }
    }

    func testThatDamageWhileItRunsIsMended() async throws {
        for swap in Swap.allCases {
            // Given an open state
            let (path, other) = try await state()
            let log = LogRecorder()
            let part = try StateStore(folder: path, logger: log.logger).part("posters")
            _ = try await part.value(for: "1")
            // When its file is damaged
            try swap.apply(to: "\(path)/state.sqlite", other: other)
            let read = try await part.value(for: "nobody set this")
            try await part.set("new", for: "after")
            // Then it continues, and new values survive a restart
            XCTAssertNil(read, "\(swap)")
            // A file without a name is still open here.
            let count = try await values(part)
            if !swap.isFile { XCTAssertEqual(count, 200, "\(swap)") }
            let after = try await StateStore(folder: path, logger: .silent).part("posters").value(for: "after")
            XCTAssertEqual(after, "new", "\(swap)")
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: other), swap == .linked ? ["letter"] : [], "\(swap)")
        }
    }

    func testThatAJournalThatIsNoFileIsMended() async throws {
        for swap in [Swap.folder, .fullFolder, .linked, .dangling, .endless, .pipe] {
            let (path, other) = try await state()
            try swap.apply(to: "\(path)/state.sqlite-journal", other: other)
            let part = try StateStore(folder: path, logger: .silent).part("posters")
            try await part.set("new", for: "after")
            let count = try await values(part)
            XCTAssertEqual(count, 200, "\(swap)")
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: other), swap == .linked ? ["letter"] : [], "\(swap)")
        }
    }

    func testThatAnotherProgramsDatabaseIsNotWrittenTo() async throws {
        for sql in [
            "DROP TABLE state; CREATE TABLE letters (text)", "CREATE TABLE letters (text)", "PRAGMA user_version = 3",
            "ALTER TABLE state ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'",
        ] {
            // Given a state that another program changed
            let (path, _) = try await state()
            try SQLiteFile(URL(filePath: "\(path)/state.sqlite")).execute(sql)
            let changed = try Data(contentsOf: URL(filePath: "\(path)/state.sqlite"))
            // When it is opened
            let part = try StateStore(folder: path, logger: .silent).part("posters")
            try await part.set("new", for: "after")
            // Then the file is set aside, and its usable values are kept
            let kept = try FileManager.default.contentsOfDirectory(atPath: path).filter {
                $0.hasPrefix("state.sqlite.damaged-") && !$0.hasSuffix("-journal")
            }
            XCTAssertEqual(try kept.map { try Data(contentsOf: URL(filePath: "\(path)/\($0)")) }, [changed], sql)
            let count = try await values(part)
            XCTAssertEqual(count, sql.hasPrefix("DROP") ? 0 : 200, sql)
        }
    }

    func testThatWhatIsDecidedOutlivesTheFolder() async throws {
        // Given an open state whose folder is deleted
        let (path, _) = try await state()
        let part = try StateStore(folder: path, logger: .silent).part("posters")
        try FileManager.default.removeItem(atPath: path)
        // When it is read, and changed
        let read = try await values(part)
        try await part.set("new", for: "after")
        // Then all values are present, also after a restart
        XCTAssertEqual(read, 200)
        let again = try StateStore(folder: path, logger: .silent).part("posters")
        let (count, after) = (try await values(again), try await again.value(for: "after"))
        XCTAssertEqual(count, 200)
        XCTAssertEqual(after, "new")
    }

    func testThatAProcessSeesWhatAnotherHasMended() async throws {
        // Given two processes with one state, one of which finds damage and repairs it
        let (path, _) = try await state()
        let (first, second) = (try StateStore(folder: path, logger: .silent), try StateStore(folder: path, logger: .silent))
        try overwrite("\(path)/state.sqlite", 0..<4096)
        try await second.part("posters").set("pinned by the second", for: "1")
        // When the first one reads and writes
        let read = try await first.part("posters").value(for: "1")
        try await first.part("posters").set("pinned by the first", for: "2")
        // Then both see both values
        XCTAssertEqual(read, "pinned by the second")
        let seen = try await second.part("posters").value(for: "2")
        XCTAssertEqual(seen, "pinned by the first")
        let kept = try FileManager.default.contentsOfDirectory(atPath: path).filter {
            $0.hasPrefix("state.sqlite.damaged-") && !$0.hasSuffix("-journal")
        }
        XCTAssertEqual(kept.count, 1)
    }

    func testThatADamagedStateOnAFullDiskIsReadAndMendedLater() async throws {
        // Given a damaged state on a full disk
        let disk = try disk("size=1m")
        try await fill(try StateStore(folder: disk.path("cache"), logger: .silent), values: 200)
        try overwrite(disk.path("cache/state.sqlite"), 0..<4096)
        try disk.fill()
        let part = try StateStore(folder: disk.path("cache"), logger: .silent).part("posters")
        // When it is read, and written once there is room
        let read = try await values(part)
        try FileManager.default.removeItem(atPath: disk.path("filler"))
        try await part.set("new", for: "after")
        // Then nothing is lost
        XCTAssertEqual(read, 200)
        let again = try StateStore(folder: disk.path("cache"), logger: .silent).part("posters")
        let (count, after) = (try await values(again), try await again.value(for: "after"))
        XCTAssertEqual(count, 200)
        XCTAssertEqual(after, "new")
    }

    /// A state with many values, a long one and a removed one, and a foreign folder.
    private func state(values: Int = 200) async throws -> (path: String, other: String) {
        let directory = try temporaryDirectory()
        let (path, other) = (directory.path("cache"), directory.path("other"))
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        guard let made = Self.made.withLock({ $0[values] }) else {
            try await fill(try StateStore(folder: path, logger: .silent), values: values)
            let file = try Data(contentsOf: URL(filePath: "\(path)/state.sqlite"))
            Self.made.withLock { $0[values] = file }
            return (path, other)
        }
        // A copy, because writing two hundred values one by one takes seconds.
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try made.write(to: URL(filePath: "\(path)/state.sqlite"))
        try Data().write(to: URL(filePath: "\(path)/state.sqlite-journal"))
        return (path, other)
    }

    /// Prepared states, by the number of their values.
    private static let made = Mutex<[Int: Data]>([:])

    private func fill(_ store: StateStore, values: Int) async throws {
        let part = store.part("posters")
        try await part.set(String(repeating: "gone ", count: 3000), for: "removed")
        for number in 0..<values { try await part.set(value(number), for: "\(number)") }
        try await part.set(long, for: "long")
        try await part.set(nil, for: "removed")
    }

    private func value(_ number: Int) -> String { "pinned \(number) " + String(repeating: "x", count: 100 + number) }

    /// The number of unchanged values among two hundred.
    private func values(_ part: StatePart) async throws -> Int {
        var count = 0
        for number in 0..<200 where try await part.value(for: "\(number)") == value(number) { count += 1 }
        return count
    }

    private func overwrite(_ path: String, _ range: Range<Int>) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.seek(toOffset: UInt64(range.lowerBound))
        try handle.write(contentsOf: Data(count: range.count))
        try handle.close()
    }
}
