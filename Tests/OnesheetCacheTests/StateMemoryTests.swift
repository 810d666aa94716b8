import Foundation
import GRDB
import OnesheetCache
import OnesheetTesting
import XCTest

/// Values that are remembered while the file of the state is unchanged, and changes by other processes.
final class StateMemoryTests: XCTestCase {
    private static let settling = Duration.milliseconds(50)

    func testThatAnUnchangedFileIsNotReadAgain() async throws {
        // Given a choice, read once it is old enough
        let (path, part) = try await state(["title web://1": "pinned"])
        try await settle(path)
        let first = try await part.values(for: ["blocked", "title web://2"])
        // When another process locks the file, so that nothing can be read
        let other = try connection(to: path)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        // Then these values, and those of other titles of the source, are known
        let again = try await part.values(for: ["blocked", "title web://2"])
        let others = try await part.values(for: ["title web://1", "title web://3"])
        XCTAssertEqual([first, again], [[nil, nil], [nil, nil]])
        XCTAssertEqual(others, ["pinned", nil])
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    func testThatTheChangesOfAnotherProcessAreSeenAtOnce() async throws {
        // Given a process that remembers an absent value
        let (path, part) = try await state(["title web://1": "pinned"])
        try await settle(path)
        _ = try await part.values(for: ["blocked", "title web://2"])
        // When another process changes values, again and again
        let other = try StateStore(folder: path, logger: .silent).part("posters")
        for number in 0..<50 {
            try await other.set("\(number)", for: "title web://2")
            // Then the first one sees each
            let value = try await part.value(for: "title web://2")
            XCTAssertEqual(value, "\(number)")
        }
        // And after a pause too
        try await settle(path)
        _ = try await part.values(for: ["title web://1", "title web://2", "blocked"])
        try await other.set(nil, for: "title web://1")
        try await other.set("a hash", for: "blocked")
        let values = try await part.values(for: ["title web://1", "title web://2", "blocked"])
        XCTAssertEqual(values, [nil, "49", "a hash"])
    }

    func testThatTheChangesOfThisProcessAreSeenAtOnce() async throws {
        let (path, part) = try await state(["title web://1": "pinned"])
        let other = try connection(to: path)
        let keys = ["title web://1", "title web://2", "blocked"]
        var last: String?
        for value in ["new", "newer", nil] {
            // Given values that are remembered: they are known while another process locks the file
            try await settle(path)
            _ = try await part.values(for: keys)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
            let remembered = try await part.values(for: keys)
            XCTAssertEqual(remembered, ["pinned", last, nil])
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            // When this process changes one
            try await part.set(value, for: "title web://2")
            // Then the change is seen, and so are others
            let values = try await part.values(for: keys)
            XCTAssertEqual(values, ["pinned", value, nil])
            last = value
        }
    }

    func testThatOfManyOrLargeValuesEachIsFound() async throws {
        // Given a source with more values than are remembered, and one with a long value
        var values = ["title long://1": String(repeating: "x", count: 100_000), "title fil://1": "", "title films:/": ""]
        for number in 0..<100 { values["title films://\(number)"] = "\(number)" }
        let (path, part) = try await state(values)
        try await settle(path)
        for _ in 0..<2 {
            // When they are read, then all are found, and no others
            let read = try await part.values(for: values.keys.sorted())
            XCTAssertEqual(read, values.keys.sorted().map { values[$0] })
            let none = try await part.values(for: ["title films://100", "title long://2", "title films://", "title film://1"])
            XCTAssertEqual(none, [nil, nil, nil, nil])
        }
    }

    func testThatKeysAreComparedByTheirBytes() async throws {
        // Given two names that Swift considers equal
        let (path, part) = try await state(["title web://\u{E9}": "one", "\u{E9}": "one"])
        try await settle(path)
        let names = ["title web://\u{E9}", "title web://e\u{301}", "\u{E9}", "e\u{301}"]
        for _ in 0..<2 {
            let values = try await part.values(for: names)
            XCTAssertEqual(values, ["one", nil, "one", nil])
        }
    }

    func testThatChangesInAWriteAheadLogAreSeen() async throws {
        // Given another program that keeps a write-ahead log
        let (path, part) = try await state(["title web://1": "pinned"])
        let other = try connection(to: path)
        let mode = try await other.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = wal") }
        XCTAssertEqual(mode, "wal")
        for number in 0..<5 {
            try await settle(path)
            _ = try await part.value(for: "title web://1")
            // When it changes a value, then the change is seen
            try await other.write {
                try $0.execute(sql: "UPDATE state SET value = ? WHERE key = 'title web://1'", arguments: ["\(number)"])
            }
            let value = try await part.value(for: "title web://1")
            XCTAssertEqual(value, "\(number)")
        }
    }

    /// A state with these values of the posters, opened after they were written.
    private func state(_ values: [String: String]) async throws -> (path: String, part: StatePart) {
        let path = try temporaryDirectory().path("cache")
        _ = try StateStore(folder: path, logger: .silent)
        try await connection(to: path).write { database in
            for (key, value) in values {
                try database.execute(
                    sql: "INSERT INTO state (part, key, value) VALUES ('posters', ?, ?)", arguments: [key, value])
            }
        }
        return (path, try StateStore(folder: path, settling: Self.settling, logger: .silent).part("posters"))
    }

    private func connection(to path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: "\(path)/state.sqlite", configuration: configuration)
    }

    /// Waits until the last change of the file is old enough.
    private func settle(_ path: String) async throws {
        let changed = try FileManager.default.attributesOfItem(atPath: "\(path)/state.sqlite")[.modificationDate] as? Date
        let moment = try XCTUnwrap(changed).addingTimeInterval(3 * (Self.settling / .seconds(1)))
        while Date.now < moment { await Task.yield() }
    }
}
