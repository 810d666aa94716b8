import Foundation
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ValkeyCoordinator

/// A test with real engines, which end with it.
class EngineTestCase: XCTestCase {
    /// A running engine.
    func engine(_ program: CoordinatorEngine.Program = .redis, _ arguments: [String] = [], cli: [String] = []) throws
        -> CoordinatorEngine
    {
        let engine = try CoordinatorEngine(program, arguments: arguments, cliArguments: cli)
        addTeardownBlock {
            engine.kill()
            engine.folder.remove()
        }
        try engine.start()
        return engine
    }

    /// A cluster of masters with equal parts of the slots, and with one replica for each if wanted.
    func cluster(_ program: CoordinatorEngine.Program = .redis, masters: Int = 3, replicas: Bool = false) throws -> EngineCluster {
        let nodes = try (0..<masters * (replicas ? 2 : 1)).map { _ in
            try engine(
                program,
                [
                    "--cluster-enabled", "yes", "--cluster-port", "\(try CoordinatorEngine.freePort())", "--cluster-node-timeout",
                    "1000",
                    "--cluster-require-full-coverage", "no", "--repl-diskless-sync-delay", "0",
                ])
        }
        return try EngineCluster(nodes, masters: masters)
    }

    /// A coordinator for engines, which is shut down after the test.
    /// - Parameter deadline: long unless a test is about deadlines, because test machines are busy.
    func store(
        _ engines: [CoordinatorEngine], deadline: Duration = .seconds(10),
        _ change: (inout ValkeyCoordinator.Configuration) -> Void = { _ in }
    ) throws -> ValkeyCoordinator {
        var configuration = ValkeyCoordinator.Configuration(
            addresses: engines.map { ValkeyAddress(host: "127.0.0.1", port: $0.port) }, deadline: Interval(deadline))
        change(&configuration)
        let store = try ValkeyCoordinator(configuration, context: .forTesting(clock: ManualClock(Date())))
        addTeardownBlock { await store.shutdown() }
        return store
    }

    /// Tries `work` until it succeeds, for at most a minute.
    func eventually<Value: Sendable>(
        _ work: () async throws -> Value, file: StaticString = #filePath, line: UInt = #line
    ) async throws -> Value {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try await work()
            } catch {
                guard ContinuousClock.now < deadline, await sleepUnlessCancelled(for: .milliseconds(20)) else { throw error }
            }
        }
    }

    /// The error of `work`.
    func failure(
        of work: () async throws(CoordinatorError) -> some Sendable, file: StaticString = #filePath, line: UInt = #line
    ) async -> CoordinatorError? {
        do throws(CoordinatorError) {
            let value = try await work()
            XCTFail("it succeeded: \(value)", file: file, line: line)
            return nil
        } catch {
            return error
        }
    }

    /// Asserts that every rule holds.
    func assertConforms(
        _ engines: [CoordinatorEngine], forget: @escaping @Sendable () async throws -> Void, _ password: String? = nil
    )
        async throws
    {
        let change = { (configuration: inout ValkeyCoordinator.Configuration) in configuration.password = password }
        let (first, second) = (try store(engines, change), try store([engines[engines.count - 1]], change))
        let engine = CoordinatorConformance.Engine(
            pass: { try await Task.sleep(for: .milliseconds($0)) },
            trim: { log, count in
                try engines[0].cli("-c", "XTRIM", first.keys(.log, log)[0], "MAXLEN", "\(count)")
            }, forget: forget)
        var suite = CoordinatorConformance(first, second, engine: engine)
        suite.isClockReal = true
        let report = await suite.run()
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }
}

/// Engines that are one cluster.
struct EngineCluster: Sendable {
    let nodes: [CoordinatorEngine]
    let masters: Int

    /// Makes a cluster of running engines and waits until each knows all slots.
    init(_ nodes: [CoordinatorEngine], masters: Int) throws {
        self.nodes = nodes
        self.masters = masters
        let slots = HashSlot.count
        for (index, node) in nodes.prefix(masters).enumerated() {
            let (first, last) = (slots * index / masters, slots * (index + 1) / masters - 1)
            try node.cli("CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(last)")
            // Different epochs, or the nodes would first have to agree on them.
            try node.cli("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
        }
        for node in nodes.dropFirst() {
            let bus = try node.cli("CONFIG", "GET", "cluster-port").split(separator: "\n").last.map(String.init) ?? ""
            try nodes[0].cli("CLUSTER", "MEET", "127.0.0.1", "\(node.port)", bus)
        }
        try wait("all know all") { try facts($0).contains("cluster_known_nodes:\(nodes.count)") }
        for (index, replica) in nodes.dropFirst(masters).enumerated() {
            let master = try nodes[index].cli("CLUSTER", "MYID")
            try wait("\(master) has a replica") { try $0 !== replica || $0.cli("CLUSTER", "REPLICATE", master) == "OK" }
        }
        try wait("all have all slots") { node in
            let info = try facts(node)
            let isReplica = nodes.dropFirst(masters).contains { $0 === node }
            return try info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:\(slots)")
                && (!isReplica || node.cli("INFO", "replication").contains("master_link_status:up"))
        }
        // A client learns of a replica by a node's list, and a master sends writes to one that it calls online.
        let replicas = nodes.count - masters
        try wait("all know \(replicas) replicas") { node in
            let known = try node.cli("CLUSTER", "NODES").split(whereSeparator: \.isNewline)
            let isOfReplica = nodes.prefix(masters).enumerated().contains { $1 === node && $0 < replicas }
            return try known.count { $0.contains("slave ") } == replicas
                && (!isOfReplica || node.cli("INFO", "replication").contains("state=online"))
        }
    }

    /// The index of the master that has a slot at the beginning.
    func owner(of slot: Int) -> Int { (0..<masters).first { slot < HashSlot.count * ($0 + 1) / masters } ?? 0 }

    private func facts(_ node: CoordinatorEngine) throws -> [Substring] {
        try node.cli("CLUSTER", "INFO").split(whereSeparator: \.isNewline)
    }

    private func wait(_ what: String, _ condition: (CoordinatorEngine) throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        for node in nodes {
            while try !condition(node) {
                guard ContinuousClock.now < deadline else {
                    throw FixtureError(
                        "not \(what):\n\(try node.cli("CLUSTER", "INFO"))\n\(try node.cli("CLUSTER", "NODES"))")
                }
            }
        }
    }
}
