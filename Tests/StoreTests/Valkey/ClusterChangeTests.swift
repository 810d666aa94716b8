import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ValkeyCoordinator

/// What happens when a cluster changes under its clients.
final class ClusterChangeTests: EngineTestCase {
    func testThatAMovingSlotIsFollowed() async throws {
        // Given
        let cluster = try cluster()
        let store = try store([cluster.nodes[0]])
        let lease = "work"
        let keys = store.keys(.lease, lease)
        let slot = HashSlot.of(keys[0])
        let source = cluster.owner(of: slot)
        let target = (source + 1) % 3
        let (from, to) = (cluster.nodes[source], cluster.nodes[target])
        let ids = [try from.cli("CLUSTER", "MYID"), try to.cli("CLUSTER", "MYID")]
        let before = try await store.acquire(lease, for: "a", milliseconds: 600_000)

        // When: the slot is about to move, its keys have moved, all nodes know.
        XCTAssertEqual(try to.cli("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", ids[0]), "OK")
        XCTAssertEqual(try from.cli("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", ids[1]), "OK")
        let during = try await store.acquire(lease, for: "a", milliseconds: 600_000)
        XCTAssertEqual(try from.cli(["MIGRATE", "127.0.0.1", "\(to.port)", "", "0", "5000", "KEYS"] + keys), "OK")
        let asked = try await store.acquire(lease, for: "a", milliseconds: 600_000)
        for node in cluster.nodes { try node.cli("CLUSTER", "SETSLOT", "\(slot)", "NODE", ids[1]) }
        let moved = try await store.acquire(lease, for: "a", milliseconds: 600_000)
        let other = try await store.acquire(lease, for: "b", milliseconds: 600_000)

        // Then
        XCTAssertEqual([during, asked, moved], [before, before, before])
        guard case .held = other else { return XCTFail("\(other)") }
        XCTAssertEqual(try to.cli("GET", keys[0]), "a")
    }

    func testThatKeysThatAreBetweenTwoNodesAreWaitedFor() async throws {
        // Given: one of two keys has moved.
        let cluster = try cluster()
        let store = try store([cluster.nodes[0]])
        let keys = store.keys(.lease, "work")
        let slot = HashSlot.of(keys[0])
        let source = cluster.owner(of: slot)
        let (from, to) = (cluster.nodes[source], cluster.nodes[(source + 1) % 3])
        let before = try await store.acquire("work", for: "a", milliseconds: 600_000)
        try to.cli("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", try from.cli("CLUSTER", "MYID"))
        try from.cli("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", try to.cli("CLUSTER", "MYID"))
        try from.cli("MIGRATE", "127.0.0.1", "\(to.port)", keys[0], "0", "5000")

        // When
        let between = await failure { () async throws(CoordinatorError) in
            try await store.acquire("work", for: "a", milliseconds: 600_000)
        }
        try from.cli("MIGRATE", "127.0.0.1", "\(to.port)", keys[1], "0", "5000")
        let after = try await store.acquire("work", for: "a", milliseconds: 600_000)

        // Then
        XCTAssertNotNil(between)
        XCTAssertEqual(after, before)
    }

    func testThatALostMasterStopsOnlyItsSlots() async throws {
        // Given
        let cluster = try cluster()
        let store = try store(cluster.nodes)
        let names = (0..<3).map { index in
            (0...).lazy.map { "name \($0)" }.first { cluster.owner(of: HashSlot.of(store.keys(.counter, $0)[0])) == index } ?? ""
        }
        for name in names { _ = try await store.add(1, to: name, limit: 10, milliseconds: 600_000) }

        // When
        cluster.nodes[1].kill()
        let lost = await failure { () async throws(CoordinatorError) in try await store.count(of: names[1]) }

        // Then
        guard case .unreachable? = lost else { return XCTFail("\(String(describing: lost))") }
        for name in [names[0], names[2]] {
            let count = try await store.count(of: name)
            XCTAssertEqual(count, 1)
        }
    }

    func testThatAReplicaThatTakesOverIsUsed() async throws {
        // Given
        let cluster = try cluster(replicas: true)
        let store = try store(cluster.nodes)
        let other = try self.store([cluster.nodes[5]])
        let owner = cluster.owner(of: HashSlot.of(store.keys(.log, "log")[0]))
        var positions: [LogPosition] = []
        for number in 0..<20 { positions.append(try await store.append("\(number)", to: "log")) }
        let before = try await other.read("log", after: .start, limit: 100, waiting: 0)

        // When
        cluster.nodes[owner].kill()
        let position = try await eventually { try await store.append("after", to: "log") }

        // Then: nothing is lost, because each record was on the replica before its append ended.
        let after = try await eventually { try await other.read("log", after: .start, limit: 100, waiting: 0) }
        XCTAssertEqual(before.records.map(\.position), positions)
        XCTAssertEqual(Array(after.records.prefix(20)), before.records)
        XCTAssertEqual(after.records.last?.position, position)
        XCTAssertEqual(after.epoch, before.epoch)
        XCTAssertTrue(after.isComplete)
    }

    func testThatAQuotaHoldsOverAFailover() async throws {
        // Given
        let cluster = try cluster(.valkey, replicas: true)
        let store = try store(cluster.nodes, deadline: .seconds(1))
        let owner = cluster.owner(of: HashSlot.of(store.keys(.counter, "quota")[0]))

        // When: four workers count, and the master dies when a part is counted.
        let granted = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var granted = 0
                    while true {
                        do throws(CoordinatorError) {
                            guard try await store.add(1, to: "quota", limit: 500, milliseconds: 600_000) != nil else {
                                return granted
                            }
                            granted += 1
                            if granted == 50 { cluster.nodes[owner].kill() }
                        } catch {
                            guard await sleepUnlessCancelled(for: .milliseconds(20)) else { return granted }
                        }
                    }
                }
            }
            return try await group.reduce(0, +)
        }

        // Then: calls whose answers were lost count too.
        XCTAssertLessThanOrEqual(granted, 500)
        XCTAssertGreaterThan(granted, 400)
    }

    func testThatEncryptedConnectionsCheckTheCertificate() async throws {
        // Given
        let folder = try TemporaryDirectory()
        addTeardownBlock { folder.remove() }
        let (certificate, key) = (folder.path("certificate.pem"), folder.path("key.pem"))
        try SmallDisk.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
            ])
        let engine = try engine(
            .redis,
            [
                "--port", "0", "--tls-port", "PORT", "--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file",
                certificate, "--tls-auth-clients", "no", "--requirepass", "secret",
            ], cli: ["--tls", "--cacert", certificate, "-a", "secret"])
        let trusting = try store([engine]) { ($0.tls, $0.ca, $0.password) = (true, certificate, "secret") }
        let strict = try store([engine]) { ($0.tls, $0.password) = (true, "secret") }
        let plain = try store([engine], deadline: .milliseconds(100)) { $0.password = "secret" }

        // When
        _ = try await trusting.probe()
        let untrusted = await failure { () async throws(CoordinatorError) in try await strict.probe() }
        let unencrypted = await failure { () async throws(CoordinatorError) in try await plain.probe() }

        // Then
        guard case .unreachable(_, let reason)? = untrusted, reason.uppercased().contains("CERTIFICATE") else {
            return XCTFail("\(String(describing: untrusted))")
        }
        XCTAssertNotNil(unencrypted)
    }
}
