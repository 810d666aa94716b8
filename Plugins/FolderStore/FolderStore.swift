public import NIOCore
public import OnesheetCore

/// A folder that several servers share, such as an NFS export, as an object store.
public struct FolderStore: ObjectStorePlugin {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The folder; a relative path starts at the working directory.
        public var path: String
        /// The longest time of one call; 5 s by default.
        public var deadline: Interval?

        public init(path: String, deadline: Interval? = nil) {
            self.path = path
            self.deadline = deadline
        }
    }

    public static let type = "folder"

    public static let sampleConfiguration = """
        type: folder
        # The folder, which every server sees. It has to exist. A relative path starts at the working directory.
        path: /mnt/posters/onesheet
        # The longest time of one call.
        deadline: 5s
        """

    private let folder: ObjectFolder
    private let threads: BlockingCalls

    /// - Throws: `ConfigurationError` if `path` is empty or `deadline` is 0. The folder may be mounted later.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        guard !configuration.path.isEmpty else {
            throw ConfigurationError(path: "path", message: "needs the path of a folder, such as /mnt/posters/onesheet")
        }
        let deadline = configuration.deadline?.duration ?? .seconds(5)
        guard deadline > .zero else {
            throw ConfigurationError(path: "deadline", message: "must be greater than 0, such as 5s")
        }
        folder = ObjectFolder(root: configuration.path)
        threads = BlockingCalls(threads: 8, deadline: deadline)
    }

    public func object(_ name: String, limit: Int) async throws(StoreError) -> StoredObject? {
        let path = try ObjectPath(name)
        return try await threads.run("get") { [folder] _ throws(StoreError) in try folder.read(path, limit: limit) }
    }

    public func start(of name: String, count: Int, limit: Int) async throws(StoreError) -> ObjectStart? {
        let path = try ObjectPath(name)
        return try await threads.run("get") { [folder] _ throws(StoreError) in
            try folder.readStart(of: path, count: count, limit: limit)
        }
    }

    public func put(_ body: ByteBuffer, as name: String, if condition: StoreCondition) async throws(StoreError) -> String? {
        let path = try ObjectPath(name)
        return try await threads.run("put") { [folder] deadline throws(StoreError) in
            try folder.write(body, to: path, if: condition, by: deadline)
        }
    }

    public func delete(_ names: [String]) async throws(StoreError) {
        var paths: [ObjectPath] = []
        for name in names { paths.append(try ObjectPath(name)) }
        // A call of its own, with its own deadline, for each part of a long list.
        for start in stride(from: 0, to: paths.count, by: 200) {
            let part = Array(paths[start..<min(start + 200, paths.count)])
            try await threads.run("delete") { [folder] deadline throws(StoreError) in
                for path in part { try folder.delete(path, by: deadline) }
            }
        }
    }

    public func list(prefix: String, after: String?, limit: Int) async throws(StoreError) -> ObjectListing {
        try await threads.run("list") { [folder] deadline throws(StoreError) in
            var listing = FolderListing(root: folder.root, prefix: prefix, after: after, limit: limit, deadline: deadline)
            return try listing.read()
        }
    }

    public func probe(prefix: String) async throws(StoreError) -> StoreAbilities {
        let name = "\(prefix)probe-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        do throws(StoreError) {
            let hasConditions = try await probing(name)
            try await delete([name])
            return StoreAbilities(hasConditions: hasConditions)
        } catch {
            do throws(StoreError) { try await delete([name]) } catch { /* The first error says more. */  }
            throw error
        }
    }

    private func probing(_ name: String) async throws(StoreError) -> Bool {
        let body = ByteBuffer(string: "probe")
        try await threads.run("probe") { [folder] _ throws(StoreError) in try folder.removeLeftovers() }
        let first = try await put(body, as: name, if: .absent)
        guard try await object(name, limit: 64)?.body == body else {
            throw .failed(operation: "probe", reason: "\(folder.root): what was written is not what is read")
        }
        guard try await list(prefix: name, after: nil, limit: 1).items.map(\.name) == [name] else {
            throw .failed(operation: "probe", reason: "\(folder.root): what was written is not listed")
        }
        let second = try await put(body, as: name, if: .absent)
        let locks = try await threads.run("probe") { [folder] _ throws(StoreError) in try folder.excludesOthers() }
        return first != nil && second == nil && locks
    }

    public func shutdown() async { await threads.shutdown() }
}
