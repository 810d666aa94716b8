import Foundation
import OnesheetCache
import OnesheetTesting
import XCTest

final class StateStoreTests: XCTestCase {
    func testThatAValueOutlivesTheObject() async throws {
        let folder = try temporaryDirectory()
        try await StateStore(folder: folder.path).part("quota").set("40", for: "today")
        let value = try await StateStore(folder: folder.path).part("quota").value(for: "today")
        XCTAssertEqual(value, "40")
    }

    func testThatOnAReadOnlyDiskValuesAreReadAndKeptInMemoryAndWrittenLater() async throws {
        let disk = try disk("size=1m")
        try await StateStore(folder: disk.path).part("quota").set("40", for: "today")
        try disk.remount("ro")
        let quota = try StateStore(folder: disk.path, logger: .silent).part("quota")

        let sum = try await quota.change("today") { $0.flatMap(Int.init).map { "\($0 + 1)" } }
        let kept = try await quota.value(for: "today")
        XCTAssertEqual([sum, kept], ["41", "41"])

        try disk.remount("rw")
        try await quota.set("yes", for: "back")
        let after = try StateStore(folder: disk.path).part("quota")
        let written = [try await after.value(for: "today"), try await after.value(for: "back")]
        XCTAssertEqual(written, ["41", "yes"])
    }

    func testThatOnAFullDiskValuesAreKeptInMemoryAndWrittenLater() async throws {
        let disk = try disk("size=1m")
        try disk.fill()
        let store = try StateStore(folder: disk.path("cache"), logger: .silent)
        try await store.part("posters").set("pinned", for: "1")

        try FileManager.default.removeItem(atPath: disk.path("filler"))
        try await store.part("posters").set("pinned", for: "2")

        let after = try StateStore(folder: disk.path("cache")).part("posters")
        let written = [try await after.value(for: "1"), try await after.value(for: "2")]
        XCTAssertEqual(written, ["pinned", "pinned"])
    }

    func testThatADiskThatFillsWhileRunningLosesNoValue() async throws {
        let disk = try disk("size=1m")
        let part = try StateStore(folder: disk.path, logger: .silent).part("posters")
        try await part.set("before", for: "0")
        try disk.fill()

        for number in 1...100 { try await part.set(String(repeating: "x", count: 1000), for: "\(number)") }

        let values = [try await part.value(for: "0"), try await part.value(for: "100")]
        XCTAssertEqual(values.map { $0?.count }, [6, 1000])
    }

    func testThatWhatIsTooMuchIsTrimmedAndTheRestStays() async throws {
        // Given two hundred removable values, a hundred others, and those of another part
        let store = try StateStore()
        let (part, other) = (store.part("choices"), store.part("calls"))
        for number in 0..<200 { try await part.set("\"free\":true \(String(repeating: "x", count: 100))", for: "free \(number)") }
        for number in 0..<50 { try await part.set("\"free\":false", for: "kept \(number)") }
        try await other.set("\"free\":true", for: "other")
        for number in 0..<50 { try await part.set("\"free\":true \"used\"", for: "used \(number)") }
        // When they are trimmed while there is room, and to nothing
        let free = ValueForm(containing: ["\"free\":true"], lacking: ["\"used\""])
        let none = try await part.trim(above: 1 << 20, like: free)
        var gone = 0
        for _ in 0..<2000 where gone < 200 { gone += try await part.trim(above: 0, like: free) }
        // Then all removable values are removed step by step, and no others
        XCTAssertEqual(none, 0)
        XCTAssertEqual(gone, 200)
        let kept = try await part.value(for: "kept 49")
        let others = try await other.value(for: "other")
        XCTAssertEqual(kept, "\"free\":false")
        let rest = try await part.values(unlike: free)
        XCTAssertEqual(rest.count, 100)
        XCTAssertNotNil(others)
    }

    func testThatAHundredChangesAtOnceAreAllMade() async throws {
        // Given a number
        let part = try StateStore().part("calls")
        // When a hundred tasks increment it concurrently
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await part.update("count") { text in
                        let count = (text.flatMap { Int($0) } ?? 0) + 1
                        text = "\(count)"
                        return count
                    }
                }
            }
            // Then each has seen a different number
            let seen = try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            XCTAssertEqual(seen, Set(1...100))
        }
    }
}
