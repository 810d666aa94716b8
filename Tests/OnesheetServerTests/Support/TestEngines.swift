import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization

/// The coordinator and the store of several servers in one process. The configuration names them.
final class TestEngines: Sendable {
    let coordinator = FakeCoordinator()
    let store = FakeObjectStore()

    private static let all = Mutex<[String: TestEngines]>([:])

    static func named(_ name: String) -> TestEngines {
        all.withLock { all in
            let engines = all[name] ?? TestEngines()
            all[name] = engines
            return engines
        }
    }
}

/// The name of engines.
struct TestEngineConfiguration: Decodable, Sendable {
    let name: String
}

/// `{ type: test, name: … }` under `shared.coordinator`.
struct TestCoordinator: CoordinatorPlugin {
    static let type = "test"
    static let sampleConfiguration = "name: one"
    private let engine: FakeCoordinator

    init(_ configuration: TestEngineConfiguration, context: PluginContext) {
        engine = TestEngines.named(configuration.name).coordinator
    }

    func acquire(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> LeaseAnswer {
        try await engine.acquire(name, for: holder, milliseconds: milliseconds)
    }

    func renew(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> Bool {
        try await engine.renew(name, for: holder, milliseconds: milliseconds)
    }

    func release(_ name: String, for holder: String) async throws(CoordinatorError) {
        try await engine.release(name, for: holder)
    }

    func append(_ record: String, to log: String) async throws(CoordinatorError) -> LogPosition {
        try await engine.append(record, to: log)
    }

    func read(
        _ log: String, after position: LogPosition?, of epoch: String?, limit: Int, waiting milliseconds: Int
    ) async throws(CoordinatorError) -> LogPage {
        try await engine.read(log, after: position, of: epoch, limit: limit, waiting: milliseconds)
    }

    func add(_ amount: Int, to counter: String, limit: Int, milliseconds: Int) async throws(CoordinatorError) -> Int? {
        try await engine.add(amount, to: counter, limit: limit, milliseconds: milliseconds)
    }

    func count(of counter: String) async throws(CoordinatorError) -> Int { try await engine.count(of: counter) }

    func probe() async throws(CoordinatorError) -> [String] { try await engine.probe() }

    func shutdown() async {}
}

/// `{ type: test, name: … }` under `shared.store`.
struct TestStore: ObjectStorePlugin {
    static let type = "test"
    static let sampleConfiguration = "name: one"
    private let engine: FakeObjectStore

    init(_ configuration: TestEngineConfiguration, context: PluginContext) {
        engine = TestEngines.named(configuration.name).store
    }

    func object(_ name: String, limit: Int) async throws(StoreError) -> StoredObject? {
        try await engine.object(name, limit: limit)
    }

    func put(_ body: ByteBuffer, as name: String, if condition: StoreCondition) async throws(StoreError) -> String? {
        try await engine.put(body, as: name, if: condition)
    }

    func delete(_ names: [String]) async throws(StoreError) { try await engine.delete(names) }

    func list(prefix: String, after: String?, limit: Int) async throws(StoreError) -> ObjectListing {
        try await engine.list(prefix: prefix, after: after, limit: limit)
    }

    func probe(prefix: String) async throws(StoreError) -> StoreAbilities { try await engine.probe(prefix: prefix) }

    func shutdown() async {}
}

extension PluginList {
    /// The plugins of tests, with these engines.
    static var withEngines: PluginList {
        var plugins = painted
        plugins.coordinators.append(TestCoordinator.self)
        plugins.stores.append(TestStore.self)
        return plugins
    }
}
