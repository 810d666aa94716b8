import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ValkeyCoordinator

final class ClusterPartsTests: XCTestCase {
    private let asked = ValkeyAddress(host: "10.0.0.1", port: 7000)

    func testThatSlotsAreThoseOfTheSpecification() {
        // Given: the examples of the cluster specification.
        let cases = [("123456789", 0x31C3), ("", 0)]

        for (key, slot) in cases {
            // When, then
            XCTAssertEqual(HashSlot.of(key), slot, key)
        }
        XCTAssertEqual(HashSlot.of("{user1000}.following"), HashSlot.of("user1000"))
        XCTAssertEqual(HashSlot.of("foo{{bar}}zap"), HashSlot.of("{bar"))
        XCTAssertEqual(HashSlot.of("foo{bar}{zap}"), HashSlot.of("bar"))
        XCTAssertNotEqual(HashSlot.of("foo{}{bar}"), HashSlot.of("bar"))
    }

    func testThatBothKeysOfANameAreInOneSlot() throws {
        // Given
        let store = try ValkeyCoordinator(.init(addresses: [asked]), context: .forTesting())
        let names = ["a", "", "{", "}", "{}", "}{", "{a}b", "기생충", "%7B", String(repeating: "x}", count: 1_000)]

        for name in names {
            // When
            let keys = store.keys(.lease, name)

            // Then
            XCTAssertEqual(HashSlot.of(keys[0]), HashSlot.of(keys[1]), name)
            XCTAssertNotEqual(keys[0], keys[1])
        }
        XCTAssertEqual(Set(names.flatMap { store.keys(.log, $0) }).count, names.count * 2)
    }

    func testThatAMapOfAClusterIsRead() throws {
        // Given
        let node: (String, Int) -> RESPValue = { .array([.bulk(Array($0.utf8)), .integer($1), .bulk([]), .array([])]) }
        let reply = RESPValue.array([
            .array([.integer(0), .integer(99), node("10.0.0.2", 7001), node("10.0.0.3", 7002)]),
            .array([.integer(200), .integer(16_383), .array([.null, .integer(7003)])]),
            .array([.integer(100), .integer(100), node("", 7003)]),
        ])

        // When
        var topology = try Topology(slots: reply, from: asked)

        // Then
        XCTAssertEqual(topology.master(of: 0), ValkeyAddress(host: "10.0.0.2", port: 7001))
        XCTAssertEqual(topology.master(of: 100), ValkeyAddress(host: "10.0.0.1", port: 7003))
        XCTAssertEqual(topology.master(of: 16_383), ValkeyAddress(host: "10.0.0.1", port: 7003))
        XCTAssertNil(topology.master(of: 150))
        XCTAssertEqual(topology.masters.count, 2)
        XCTAssertTrue(topology.isReplicated(50))
        XCTAssertFalse(topology.isReplicated(200))
        topology.move(150, to: ValkeyAddress(host: "10.0.0.9", port: 1))
        topology.move(20_000, to: asked)
        XCTAssertEqual(topology.master(of: 150), ValkeyAddress(host: "10.0.0.9", port: 1))
    }

    func testThatAMapThatCannotBeIsRefused() {
        // Given
        let range: (Int, Int, RESPValue) -> RESPValue = { .array([.integer($0), .integer($1), $2]) }
        let node: (String, Int) -> RESPValue = { .array([.bulk(Array($0.utf8)), .integer($1)]) }
        let maps: [RESPValue] = [
            .null, .array([]), .array([.integer(1)]), .array([.array([.integer(0), .integer(1)])]),
            .array([range(0, 16_384, node("a", 1))]), .array([range(5, 4, node("a", 1))]), .array([range(-1, 4, node("a", 1))]),
            .array([range(0, 10, node("a", 1)), range(10, 20, node("b", 1))]), .array([range(0, 1, node("a b", 1))]),
            .array([range(0, 1, node("a", 0))]), .array([range(0, 1, node("a", 70_000))]), .array([range(0, 1, .array([.null]))]),
            .array((0..<2_001).map { range($0, $0, node("n\($0)", 1)) }), .simple("OK"),
        ]

        for map in maps {
            // When, then
            XCTAssertThrowsError(try Topology(slots: map, from: asked), "\(map)".prefix(200).description)
        }
    }

    func testThatRedirectsAreRead() {
        // Given
        let other = ValkeyAddress(host: "10.0.0.2", port: 7001)
        let cases: [(String, Redirect?)] = [
            ("MOVED 3999 10.0.0.2:7001", .moved(slot: 3_999, to: other)), ("ASK 3999 10.0.0.2:7001", .ask(other)),
            ("MOVED 3999 :7001", .moved(slot: 3_999, to: ValkeyAddress(host: "10.0.0.1", port: 7001))),
            ("MOVED 3999 ?:7001", .moved(slot: 3_999, to: ValkeyAddress(host: "10.0.0.1", port: 7001))),
            ("ASK 1 fe80::1:7001", .ask(ValkeyAddress(host: "fe80::1", port: 7001))), ("TRYAGAIN Multiple keys", .tryAgain),
            ("CLUSTERDOWN The cluster is down", .lookAgain), ("READONLY You can't write", .lookAgain),
            ("NOSCRIPT No matching script", .loadScript), ("MOVED 20000 10.0.0.2:7001", nil), ("MOVED 1 10.0.0.2", nil),
            ("MOVED 1", nil), ("MOVED", nil), ("", nil), ("ASK 1 a/b:1", nil), ("ASK 1 a:0", nil), ("ERR moved", nil),
        ]

        for (text, expected) in cases {
            // When, then
            XCTAssertEqual(Redirect(text, from: asked), expected, text)
        }
    }

    func testThatAnInfoTellsWhatAnOperatorShouldKnow() {
        // Given
        let cases: [(String, Bool, Int)] = [
            ("redis_version:6.2.7\r\naof_enabled:1\r\n", false, 0),
            ("redis_version:7.0.15\r\nmaxmemory_policy:allkeys-lru\r\n", true, 1),
            ("# Server\r\nredis_version:7.2.4\r\nvalkey_version:9.1.2\r\naof_enabled:0\r\nconnected_slaves:0\r\n", true, 1),
            ("", true, 0),
            ("aof_enabled:0\r\nconnected_slaves:1\r\nmaxmemory_policy:noeviction\r\n", true, 0),
        ]

        for (text, isNewEnough, notes) in cases {
            // When
            let info = EngineInfo(text)

            // Then
            XCTAssertEqual(info.isNewEnough, isNewEnough, text)
            XCTAssertEqual(info.notes.count, notes, "\(info.notes)")
        }
    }
}
