public import NIOCore
public import OnesheetCore
internal import Synchronization

/// An object store in memory that a test can slow down, break, and make lie.
public final class FakeObjectStore: ObjectStore {
    /// The faults of the store.
    public struct Behavior: Sendable {
        /// Every call throws this error.
        public var failure: StoreError?
        /// Every call waits here. A cancelled call throws `StoreError.timedOut`.
        public var gate: Gate?
        /// A cancelled call waits on, as one that hangs does.
        public var ignoresCancellation = false
        /// Conditions of writes are accepted and ignored.
        public var ignoresConditions = false
        /// Changes the bytes that a read returns.
        public var damage: (@Sendable (_ name: String, _ body: ByteBuffer) -> ByteBuffer)?

        public init() {}
    }

    /// The operations of a store.
    public enum Operation: String, Sendable, CaseIterable {
        case get, start, put, delete, list, probe
    }

    private struct Contents {
        var behavior = Behavior()
        var objects: [ExactText: StoredObject] = [:]
        var writes = 0
        var calls: [Operation: Int] = [:]
    }

    private let contents = Mutex(Contents())

    public init() {}

    /// Changes the faults of the store. Calls under way go on as before.
    public func change(_ change: (inout Behavior) -> Void) { contents.withLock { change(&$0.behavior) } }

    /// The number of calls of an operation since the start.
    public func calls(_ operation: Operation) -> Int { contents.withLock { $0.calls[operation] ?? 0 } }

    /// The names of all objects, in the order of their bytes.
    public var names: [String] { contents.withLock { $0.objects.keys.sorted().map(\.description) } }

    /// The bytes under `name`, without a call. Setting them writes an object, or removes it.
    public subscript(name: String) -> ByteBuffer? {
        get { contents.withLock { $0.objects[ExactText(name)]?.body } }
        set {
            contents.withLock { contents in
                contents.writes += 1
                contents.objects[ExactText(name)] = newValue.map { StoredObject(body: $0, revision: "r\(contents.writes)") }
            }
        }
    }

    public func object(_ name: String, limit: Int) async throws(StoreError) -> StoredObject? {
        try await object(name, limit: limit, for: .get)
    }

    public func start(of name: String, count: Int, limit: Int) async throws(StoreError) -> ObjectStart? {
        try await object(name, limit: limit, for: .start).map { ObjectStart(of: $0.body, count: count) }
    }

    private func object(_ name: String, limit: Int, for operation: Operation) async throws(StoreError) -> StoredObject? {
        let behavior = try await begin(operation)
        try check(name)
        guard var object = contents.withLock({ $0.objects[ExactText(name)] }) else { return nil }
        guard object.body.readableBytes <= limit else { throw .tooLarge(name: name, limit: limit) }
        if let damage = behavior.damage { object.body = damage(name, object.body) }
        return object
    }

    public func put(_ body: ByteBuffer, as name: String, if condition: StoreCondition) async throws(StoreError) -> String? {
        let behavior = try await begin(.put)
        try check(name)
        return contents.withLock { contents in
            let present = contents.objects[ExactText(name)]
            let holds =
                switch condition {
                case .none: true
                case .absent: present == nil
                case .revision(let revision): present?.revision == revision
                }
            guard holds || behavior.ignoresConditions else { return nil }
            contents.writes += 1
            contents.objects[ExactText(name)] = StoredObject(body: body, revision: "r\(contents.writes)")
            return "r\(contents.writes)"
        }
    }

    public func delete(_ names: [String]) async throws(StoreError) {
        _ = try await begin(.delete)
        for name in names { try check(name) }
        contents.withLock { contents in for name in names { contents.objects[ExactText(name)] = nil } }
    }

    public func list(prefix: String, after: String?, limit: Int) async throws(StoreError) -> ObjectListing {
        _ = try await begin(.list)
        let found = contents.withLock { contents in
            contents.objects.filter { name, _ in
                name.description.utf8.starts(with: prefix.utf8) && after.map { ExactText($0) < name } ?? true
            }
        }
        let items = found.sorted { $0.key < $1.key }.map {
            ObjectListing.Item(name: $0.key.description, bytes: $0.value.body.readableBytes)
        }
        return ObjectListing(items: Array(items.prefix(limit)), hasMore: items.count > limit)
    }

    public func probe(prefix: String) async throws(StoreError) -> StoreAbilities {
        StoreAbilities(hasConditions: !(try await begin(.probe)).ignoresConditions)
    }

    private func begin(_ operation: Operation) async throws(StoreError) -> Behavior {
        let behavior = contents.withLock { contents in
            contents.calls[operation, default: 0] += 1
            return contents.behavior
        }
        if let gate = behavior.gate {
            do {
                if behavior.ignoresCancellation {
                    try await Task { try await gate.pass() }.value
                } else {
                    try await gate.pass()
                }
            } catch {
                throw .timedOut(operation: operation.rawValue)
            }
        }
        if let failure = behavior.failure { throw failure }
        return behavior
    }

    private func check(_ name: String) throws(StoreError) {
        guard (1...1024).contains(name.utf8.count) else { throw .invalidName(name) }
    }
}
