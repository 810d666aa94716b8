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
}
