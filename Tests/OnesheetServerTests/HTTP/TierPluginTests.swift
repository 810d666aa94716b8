import OnesheetCache
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import Synchronization
import XCTest

@testable import OnesheetServer

/// Two servers that share a plugin's tier behind their own memory and disk.
final class TierPluginTests: ServerTestCase {
    private let path = "/t/p/w92/sample/1.jpg"

    private var plugins: PluginList {
        var plugins = PluginList.standard
        plugins.tiers.append(SharedRoom.self)
        return plugins
    }

    func testThatOneServerFindsWhatAnotherOneMade() async throws {
        // Given two servers with a shared tier
        let tiers = "{ type: room, name: shared, room: \"\(UUID())\" }"
        let first = try await server(plugins: plugins, tiers: tiers)
        let second = try await server(keys: "admin: { token: secret-for-tests }", plugins: plugins, tiers: tiers)
        // When one has made an image
        let made = try await first.send(path)
        // Then the other gets it from the tier, and after that from memory
        let found = try await second.send(path)
        let again = try await second.send(path)
        XCTAssertEqual(found.body, made.body)
        XCTAssertTrue(found.field("Cache-Status")?.hasSuffix("detail=shared") ?? false, found.field("Cache-Status") ?? "")
        XCTAssertTrue(again.field("Cache-Status")?.hasSuffix("detail=memory") ?? false, again.field("Cache-Status") ?? "")
        // When it is purged there, then it is made again
        let fields = [("Authorization", "Bearer secret-for-tests")]
        let purged = try await second.send("/cache/sample/1", method: "DELETE", fields: fields)
        XCTAssertEqual(purged.status, 200, purged.text)
        let after = try await second.send(path)
        XCTAssertTrue(after.field("Cache-Status")?.contains("fwd=miss") ?? false, after.field("Cache-Status") ?? "")
        // And the tier has metrics
        let metrics = try await second.send("/metrics").text
        XCTAssertTrue(metrics.contains("tier=\"shared\""))
    }

    func testThatATierThatFailsCostsNoAnswer() async throws {
        let server = try await server(plugins: plugins, tiers: "{ type: room, room: broken }")

        let answers = [try await server.send(path), try await server.send(path)]

        XCTAssertEqual(answers.map(\.status), [200, 200])
    }

    func testThatAConfigurationThatNamesNoTierOrOneTwiceIsRefused() throws {
        let cases = [
            ("{ type: rom }", "cache.tiers.[0].type"), ("{ type: room, room: a, rom: b }", "cache.tiers.[0]: unknown key"),
            ("{ type: room, name: disk, room: a }", "cache.tiers.[0].name"),
            ("{ type: room, room: a }, { type: room, room: b }", "cache.tiers.[1].name"),
            ("{ type: room, room: a, deadline: 0s }", "deadline"), ("{ room: a }", "cache.tiers.[0]"),
        ]
        for (tiers, place) in cases {
            XCTAssertThrowsError(
                try {
                    let yaml = RunningServer.yaml(cache: folder(), tiers: tiers)
                    let configuration = try ConfigurationFile(environment: [:]).parse(yaml)
                    _ = try ServerContext.examined(configuration, plugins, logger: RunningServer.silent)
                }(), tiers
            ) { XCTAssertTrue("\($0)".contains(place), "\(tiers): \($0)") }
        }
    }
}

/// A tier in memory that all servers of this process with the same `room` share.
private struct SharedRoom: TierPlugin {
    struct Configuration: Decodable { let room: String }

    static let type = "room"
    static let sampleConfiguration = "room: a"
    private static let rooms = Mutex<[String: MemoryTier]>([:])

    let name = "room"
    private let memory: MemoryTier
    private let isBroken: Bool

    init(_ configuration: Configuration, context: PluginContext) {
        memory = Self.rooms.withLock { rooms in
            let room = rooms[configuration.room] ?? MemoryTier(clock: context.clock)
            rooms[configuration.room] = room
            return room
        }
        isBroken = configuration.room == "broken"
    }

    private func check() throws(CacheError) { if isBroken { throw .tier(operation: "use", reason: "it is broken") } }

    func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry? {
        try check()
        return await memory.entry(for: key)
    }
    func contains(_ key: CacheKey) async throws(CacheError) -> Bool {
        try check()
        return await memory.contains(key)
    }
    func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async throws(CacheError) -> Bool {
        try check()
        return await memory.store(entry, for: key, ifGeneration: generation)
    }
    func remove(_ key: CacheKey) async { await memory.remove(key) }
    func remove(_ selection: CacheSelection, dryRun: Bool) async -> CacheRemoval { await memory.remove(selection, dryRun: dryRun) }
    func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async { await memory.forEachKey(visit) }
    func statistics() async -> CacheStatistics { await memory.statistics() }
    func generation() async -> Int { memory.generation }
    func raiseGeneration() async -> Int { await memory.raiseGeneration() }
}
