import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ValkeyCoordinator

final class ValkeyConformanceTests: EngineTestCase {
    func testThatRedisConforms() async throws {
        // Given
        let engine = try engine()

        // When, then
        try await assertConforms([engine], forget: { try engine.cli("FLUSHALL") })
    }

    func testThatValkeyWithAPasswordConforms() async throws {
        // Given
        let password = "a long password"
        let engine = try engine(.valkey, ["--requirepass", password], cli: ["-a", password])

        // When, then
        let forget = { @Sendable in
            engine.kill()
            try engine.start()
        }
        try await assertConforms([engine], forget: forget, password)
    }

    func testThatARedisClusterConforms() async throws {
        // Given
        let cluster = try cluster()

        // When, then
        try await assertConforms(cluster.nodes, forget: { for node in cluster.nodes { try node.cli("FLUSHALL") } })
    }

    func testThatAValkeyClusterConforms() async throws {
        // Given
        let cluster = try cluster(.valkey)

        // When, then
        try await assertConforms(cluster.nodes, forget: { for node in cluster.nodes { try node.cli("FLUSHALL") } })
    }
}
