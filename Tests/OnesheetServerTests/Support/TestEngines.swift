import NIOCore
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import Synchronization

/// The coordinator and the store of several servers in one process. The configuration names them.
final class TestEngines: Sendable {
    let coordinator = FakeCoordinator()
    let store = FakeObjectStore()

    /// The engines that a server can be cut off from.
    enum Part: Hashable {
        case coordinator, store
    }

    private let lost = Mutex<[String: Set<Part>]>([:])

    private static let all = Mutex<[String: TestEngines]>([:])

    static func named(_ name: String) -> TestEngines {
        all.withLock { all in
            let engines = all[name] ?? TestEngines()
            all[name] = engines
            return engines
        }
    }

    /// Cuts a server off from these engines, and from no others, as a network that has parted does.
    func cut(_ server: String, from parts: Set<Part>) { lost.withLock { $0[server] = parts } }

    fileprivate func isCut(_ server: String?, from part: Part) -> Bool {
        lost.withLock { lost in server.flatMap { lost[$0] }?.contains(part) ?? false }
    }
}

/// The name of engines, and that of the server that uses them, if a test cuts it off.
struct TestEngineConfiguration: Decodable, Sendable {
    let name: String
    let server: String?
}

/// The engines as one server reaches them.
private struct ReachedEngines: Sendable {
    let engines: TestEngines
    let server: String?

    init(_ configuration: TestEngineConfiguration) {
        engines = TestEngines.named(configuration.name)
        server = configuration.server
    }

    /// The answer of the coordinator, unless the server is cut off before or after it.
    func ask<Answer>(
        _ work: (FakeCoordinator) async throws(CoordinatorError) -> Answer
    ) async throws(CoordinatorError) -> Answer {
        let unreachable = CoordinatorError.unreachable(operation: "ask", reason: "this server is cut off")
        if engines.isCut(server, from: .coordinator) { throw unreachable }
        let answer = try await work(engines.coordinator)
        if engines.isCut(server, from: .coordinator) { throw unreachable }
        return answer
    }

    /// The answer of the store, unless the server is cut off before or after it.
    func use<Answer>(_ work: (FakeObjectStore) async throws(StoreError) -> Answer) async throws(StoreError) -> Answer {
        let unreachable = StoreError.unreachable(operation: "ask", reason: "this server is cut off")
        if engines.isCut(server, from: .store) { throw unreachable }
        let answer = try await work(engines.store)
        if engines.isCut(server, from: .store) { throw unreachable }
        return answer
    }
}

/// `{ type: test, name: … }` under `shared.coordinator`.
struct TestCoordinator: CoordinatorPlugin {
    static let type = "test"
    static let sampleConfiguration = "name: one"
    private let engine: ReachedEngines

    init(_ configuration: TestEngineConfiguration, context: PluginContext) { engine = ReachedEngines(configuration) }

    func acquire(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> LeaseAnswer {
        try await engine.ask { engine async throws(CoordinatorError) in
            try await engine.acquire(name, for: holder, milliseconds: milliseconds)
        }
    }

    func renew(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> Bool {
        try await engine.ask { engine async throws(CoordinatorError) in
            try await engine.renew(name, for: holder, milliseconds: milliseconds)
        }
    }

    func release(_ name: String, for holder: String, doneFor milliseconds: Int) async throws(CoordinatorError) {
        try await engine.ask { engine async throws(CoordinatorError) in
            try await engine.release(name, for: holder, doneFor: milliseconds)
        }
    }

    func append(_ record: String, to log: String) async throws(CoordinatorError) -> LogPosition {
        try await engine.ask { engine async throws(CoordinatorError) in try await engine.append(record, to: log) }
    }

    func read(
        _ log: String, after position: LogPosition?, of epoch: String?, limit: Int, waiting milliseconds: Int
    ) async throws(CoordinatorError) -> LogPage {
        try await engine.ask { engine async throws(CoordinatorError) in
            try await engine.read(log, after: position, of: epoch, limit: limit, waiting: milliseconds)
        }
    }

    func add(
        _ amount: Int, to counter: String, floor: Int, limit: Int, milliseconds: Int
    ) async throws(CoordinatorError) -> Int? {
        try await engine.ask { engine async throws(CoordinatorError) in
            try await engine.add(amount, to: counter, floor: floor, limit: limit, milliseconds: milliseconds)
        }
    }

    func count(of counter: String) async throws(CoordinatorError) -> Int {
        try await engine.ask { engine async throws(CoordinatorError) in try await engine.count(of: counter) }
    }

    func probe() async throws(CoordinatorError) -> [String] {
        try await engine.ask { engine async throws(CoordinatorError) in try await engine.probe() }
    }

    func shutdown() async {}
}

/// `{ type: test, name: … }` under `shared.store`.
struct TestStore: ObjectStorePlugin {
    static let type = "test"
    static let sampleConfiguration = "name: one"
    private let engine: ReachedEngines

    init(_ configuration: TestEngineConfiguration, context: PluginContext) { engine = ReachedEngines(configuration) }

    func object(_ name: String, limit: Int) async throws(StoreError) -> StoredObject? {
        try await engine.use { store async throws(StoreError) in try await store.object(name, limit: limit) }
    }

    func put(_ body: ByteBuffer, as name: String, if condition: StoreCondition) async throws(StoreError) -> String? {
        try await engine.use { store async throws(StoreError) in try await store.put(body, as: name, if: condition) }
    }

    func delete(_ names: [String]) async throws(StoreError) {
        try await engine.use { store async throws(StoreError) in try await store.delete(names) }
    }

    func list(prefix: String, after: String?, limit: Int) async throws(StoreError) -> ObjectListing {
        try await engine.use { store async throws(StoreError) in try await store.list(prefix: prefix, after: after, limit: limit) }
    }

    func probe(prefix: String) async throws(StoreError) -> StoreAbilities {
        try await engine.use { store async throws(StoreError) in try await store.probe(prefix: prefix) }
    }

    func shutdown() async {}
}

extension PluginList {
    /// The plugins of tests, with these engines.
    static var withEngines: PluginList {
        var plugins = standard
        plugins.coordinators.append(TestCoordinator.self)
        plugins.stores.append(TestStore.self)
        return plugins
    }
}
