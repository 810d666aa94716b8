import Foundation
import OnesheetTesting
import XCTest

/// A store that promises what it does not do: rclone accepts the conditions of writes and ignores them. Its objects are files, which anyone
/// can damage.
final class LyingStoreTests: ClusterTestCase {
    private static let titles = 0..<6
    private static let widths = [30, 12]

    func testThatItIsNoticedAndThatNoWrongPictureIsServed() async throws {
        // Given two servers, and titles that differ in their height
        let (coordinator, store) = (try coordinator(), try await store(.rclone))
        let pictures = try Self.titles.map { try poster(width: 60, height: 60 + 10 * $0) }
        let origin = try await origin { target in
            guard let number = Int(target.dropFirst(1)), pictures.indices.contains(number) else { return .answer(status: 404) }
            return pictures[number]
        }
        let first = try await member("first", origin, store: store.port, coordinator: coordinator.port)
        let second = try await member("second", origin, store: store.port, coordinator: coordinator.port)
        // When both make all of them at once, and write them over each other's
        try await assertRightPictures(origin, of: [first, second])
        // Then the log tells what the store cannot do, and a decision stays where it was made
        let said = await first.log.read(until: "stay on the server that takes them")
        XCTAssertTrue(said.contains("the store ignores conditions of writes"), said)
        let hash = "0123456789abcdef"
        let blocked = try await first.ask("/blocked/\(hash)", method: "PUT", isAdministrator: true)
        XCTAssertEqual(blocked.status, 200, blocked.text)
        let lists = [
            try await first.ask("/blocked/", isAdministrator: true).text,
            try await second.ask("/blocked/", isAdministrator: true).text,
        ]
        XCTAssertTrue(lists[0].contains(hash), lists[0])
        XCTAssertFalse(lists[1].contains(hash), lists[1])
        // And when objects are changed, exchanged and cut, a server that has only the store serves none of them
        try await untilStored([first, second])
        let damaged = try damageObjects(of: store)
        XCTAssertGreaterThanOrEqual(damaged, Self.titles.count)
        let third = try await member("third", origin, store: store.port, coordinator: coordinator.port)
        try await assertRightPictures(origin, of: [third])
        let noticed = try await third.metric("shared_damaged_total")
        XCTAssertGreaterThan(noticed, 0)
    }

    /// Asks the servers for all pictures at once.
    private func assertRightPictures(_ origin: OriginServer, of members: [ClusterMember], line: UInt = #line) async throws {
        let wanted = members.flatMap { member in
            Self.titles.flatMap { title in
                Self.widths.map { (member, path(origin, "\(title)", width: $0), [$0, $0 * (6 + title) / 6]) }
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (member, path, size) in wanted {
                group.addTask {
                    let answer = try await member.ask(path)
                    XCTAssertEqual(answer.status, 200, answer.text, line: line)
                    XCTAssertEqual(answer.size, size, path, line: line)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Damages every entry in the store: changes a byte in its middle, puts another entry in its place, or cuts it.
    /// - Returns: how many entries there are.
    private func damageObjects(of store: StoreEngine) throws -> Int {
        let files = try FileManager.default.subpathsOfDirectory(atPath: store.objects.path).sorted()
            .map { store.objects.appending(path: $0) }
            .filter { ["o-", "v-", "m-"].contains(String($0.lastPathComponent.prefix(2))) }
        let objects = try files.map { try Data(contentsOf: $0) }
        for (number, (file, object)) in zip(files, objects).enumerated() {
            var object = object
            switch number % 3 {
            case 0: object[object.count / 2] ^= 1
            case 1: object = objects[(number + 1) % objects.count]
            default: object = object.prefix(object.count / 2)
            }
            try object.write(to: file)
        }
        return files.count
    }
}
