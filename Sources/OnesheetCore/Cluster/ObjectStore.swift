public import NIOCore

/// A store of named objects that several servers share: an S3 bucket, a shared folder.
///
/// A store keeps bytes and knows nothing of images. Its users check what they read, so a store may lose or damage an object, but it
/// must not mix up names. Every call ends, with a `StoreError.timedOut` if need be.
///
/// A name has 1 to 1,024 bytes of UTF-8; `/` separates its parts. Names are compared by their bytes. Every store has names whose parts
/// have up to 200 bytes, begin with a letter or digit of ASCII, and go on with those, `-`, `_` and `.`. It either has any other name
/// exactly as it is, or refuses it with `StoreError.invalidName`. No name may be the folder of another: with `a/b`, there is no `a`.
public protocol ObjectStore: Sendable {
    /// The object under `name`; `nil` if there is none.
    /// - Parameter limit: the most bytes of the object. A larger one is a `StoreError.tooLarge`, and its bytes are not kept.
    func object(_ name: String, limit: Int) async throws(StoreError) -> StoredObject?

    /// The first bytes of the object under `name`, for a look that needs no more; `nil` if there is none.
    ///
    /// By default the whole object is read. A store that can read a part should do so.
    /// - Parameters:
    ///   - count: the most bytes of the answer, at least 1. It has fewer only if the object has fewer.
    ///   - limit: the most bytes of the whole object. A larger one is a `StoreError.tooLarge`.
    func start(of name: String, count: Int, limit: Int) async throws(StoreError) -> ObjectStart?

    /// Writes the object under `name`, all of it or nothing.
    /// - Returns: `nil` if `condition` did not hold, and then nothing is written; otherwise the revision of the new object.
    func put(_ body: ByteBuffer, as name: String, if condition: StoreCondition) async throws(StoreError) -> String?

    /// Deletes the objects under `names`; those that do not exist count as deleted.
    func delete(_ names: [String]) async throws(StoreError)

    /// The objects whose names begin with `prefix`, in the order of their names' UTF-8 bytes.
    /// - Parameters:
    ///   - after: only names behind this one; `nil` begins with the first.
    ///   - limit: the most objects of the answer. The answer may have fewer.
    func list(prefix: String, after: String?, limit: Int) async throws(StoreError) -> ObjectListing

    /// Tries the abilities of the store with its own objects under `prefix`, and deletes them. Writes, reads, lists and deletes.
    /// - Throws: if the store cannot be used: its address, its credentials, a missing bucket, a clock that is wrong.
    func probe(prefix: String) async throws(StoreError) -> StoreAbilities
}

extension ObjectStore {
    public func start(of name: String, count: Int, limit: Int) async throws(StoreError) -> ObjectStart? {
        try await object(name, limit: limit).map { ObjectStart(of: $0.body, count: count) }
    }
}

/// An object of a store.
public struct StoredObject: Sendable, Equatable {
    /// The object's bytes.
    public var body: ByteBuffer
    /// Changes whenever the bytes of the object change: the `ETag` of S3. Opaque.
    public var revision: String

    public init(body: ByteBuffer, revision: String) {
        self.body = body
        self.revision = revision
    }
}

/// The first bytes of an object of a store.
public struct ObjectStart: Sendable, Equatable {
    /// The first bytes, or all.
    public var bytes: ByteBuffer
    /// The size of the whole object in bytes.
    public var size: Int

    public init(bytes: ByteBuffer, size: Int) {
        self.bytes = bytes
        self.size = size
    }

    /// The first `count` bytes of `body`, which is a whole object.
    public init(of body: ByteBuffer, count: Int) {
        var rest = body
        let bytes = rest.readSlice(length: min(count, body.readableBytes)) ?? ByteBuffer()
        self.init(bytes: bytes, size: body.readableBytes)
    }
}

/// The condition of a write.
public enum StoreCondition: Sendable, Hashable {
    /// The write has no condition.
    case none
    /// There is no object of this name (`If-None-Match: *`, RFC 9110 §13.1.2).
    case absent
    /// The object has this revision (`If-Match`, RFC 9110 §13.1.1).
    case revision(String)
}

/// One part of a list of objects.
public struct ObjectListing: Sendable, Equatable {
    /// A listed object.
    public struct Item: Sendable, Equatable {
        /// The full name of the object.
        public var name: String
        /// The size of the object in bytes.
        public var bytes: Int

        public init(name: String, bytes: Int) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// The objects in the order of their names.
    public var items: [Item]
    /// Whether more follow behind the last item.
    public var hasMore: Bool

    public init(items: [Item], hasMore: Bool) {
        self.items = items
        self.hasMore = hasMore
    }
}

/// The abilities of a store beyond reading and writing, found by trying.
public struct StoreAbilities: Sendable, Equatable {
    /// Whether `.absent` and `.revision` are checked. Some stores accept the condition and ignore it.
    public var hasConditions: Bool

    public init(hasConditions: Bool) { self.hasConditions = hasConditions }
}

/// The reason for which a store failed.
public enum StoreError: Error, Sendable, Equatable {
    /// The store did not answer before the deadline.
    case timedOut(operation: String)
    /// The store cannot be reached, or does not answer requests now.
    case unreachable(operation: String, reason: String)
    /// The store refuses this server: credentials, rights, clock. The message says what to do.
    case refused(operation: String, reason: String)
    /// The store answered with an error.
    case failed(operation: String, reason: String)
    /// The object has more bytes than the limit.
    case tooLarge(name: String, limit: Int)
    /// The name is not one that the store can have.
    case invalidName(String)
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .timedOut(let operation): "the store did not answer in time (\(operation))"
        case .unreachable(let operation, let reason): "the store is not available (\(operation)): \(reason)"
        case .refused(let operation, let reason): "the store refuses to \(operation): \(reason)"
        case .failed(let operation, let reason): "the store cannot \(operation): \(reason)"
        case .tooLarge(let name, let limit): "the object \(name) has more than \(limit) bytes"
        case .invalidName(let name): "“\(name)” is not a name of an object"
        }
    }
}
