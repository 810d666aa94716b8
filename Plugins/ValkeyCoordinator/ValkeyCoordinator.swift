import FoundationEssentials
import NIOCore
import NIOSSL
public import OnesheetCore

/// Coordinates servers through Valkey or Redis, one engine or a cluster.
public struct ValkeyCoordinator: CoordinatorPlugin {
    public static let type = "valkey"

    public static let sampleConfiguration = """
        type: valkey
        # The engine, or some nodes of a cluster: host and port. The other nodes are found out. Without a port it is 6379.
        addresses: ["10.0.0.11:6379", "10.0.0.12:6379", "valkey-3.internal:6379"]
        # The user and the password, if the engine has any. Without a user it is the engine's default user.
        user: onesheet
        password: "${VALKEY_PASSWORD}"
        # Whether connections are encrypted, and the file with the authorities (PEM) whose certificates are trusted. Without a file
        # they are those of the system.
        tls: true
        # The beginning of the names of all keys. Installations that share an engine need different ones.
        prefix: "onesheet:"
        # The time for an answer. An engine that is slower counts as absent.
        deadline: 50ms
        """

    /// The most records of a log, about.
    static let records = 100_000
    /// The most bytes of a record.
    static let recordBytes = 1 << 20
    /// Numbers up to this one are exact in Lua.
    private static let largest = 1 << 53
    /// The time in which a replica has to have a record or a count.
    private static let copying = TimeAmount.milliseconds(100)
    /// The longest that a call of `read` may wait, in milliseconds.
    private static let longestWait = 600_000
    /// The longest life of a lease or a counter, in milliseconds: ten years.
    private static let longestLife = 315_360_000_000

    let client: ValkeyClient
    let clock: WallClock
    private let prefix: String

    /// - Throws: `ConfigurationError` if a value is invalid or the file `ca` cannot be read.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        try configuration.check()
        let deadline = TimeAmount(configuration.deadline.duration)
        let settings = ConnectionSettings(
            user: configuration.user, password: configuration.password, tls: try configuration.tlsContext(),
            connecting: max(.milliseconds(250), deadline))
        client = ValkeyClient(configuration.addresses, settings: settings, deadline: deadline)
        prefix = configuration.prefix
        clock = context.clock
    }

    public func shutdown() async { client.close() }

    public func acquire(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> LeaseAnswer {
        let operation = "take a lease"
        let reply = try await client.run(
            .acquire, keys: keys(.lease, name), arguments: [holder, life(milliseconds)], operation: operation)
        let values = reply.array?.compactMap(\.integer) ?? []
        if values.count == 3, values[0] == 1 { return .granted(token: values[1], isDone: values[2] == 1) }
        if values.count == 2, values[0] == 0 { return .held(milliseconds: max(1, values[1])) }
        throw unexpected(reply, operation)
    }

    public func renew(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> Bool {
        let reply = try await client.run(
            .renew, keys: keys(.lease, name), arguments: [holder, life(milliseconds)], operation: "renew a lease")
        return reply.integer == 1
    }

    public func release(_ name: String, for holder: String, doneFor milliseconds: Int) async throws(CoordinatorError) {
        _ = try await client.run(
            .release, keys: keys(.lease, name), arguments: [holder, milliseconds > 0 ? life(milliseconds) : "0"],
            copying: milliseconds > 0 ? Self.copying : nil, operation: "release a lease")
    }

    public func append(_ record: String, to log: String) async throws(CoordinatorError) -> LogPosition {
        let operation = "append to the log"
        guard record.utf8.count <= Self.recordBytes else {
            throw .failed(operation: operation, reason: "a record has more than \(Self.recordBytes) bytes")
        }
        let keys = keys(.log, log)
        let reply = try await client.run(
            .append, keys: keys, arguments: [record, "\(Self.records)", UUID().uuidString], copying: Self.copying,
            operation: operation)
        guard let position = LogPosition(reply) else { throw unexpected(reply, operation) }
        return position
    }

    public func read(
        _ log: String, after position: LogPosition?, of epoch: String?, limit: Int, waiting milliseconds: Int
    ) async throws(CoordinatorError) -> LogPage {
        let page = try await page(of: log, after: position, epoch, limit: limit)
        guard let position, milliseconds > 0, page.records.isEmpty, page.isComplete else { return page }
        let wait = min(milliseconds, Self.longestWait)
        let key = keys(.log, log)[0]
        _ = try await client.send(
            ValkeyCommand("XREAD", "COUNT", "1", "BLOCK", "\(wait)", "STREAMS", key, position.id), key: key,
            blocking: .milliseconds(Int64(wait)), operation: "wait for a record")
        return try await self.page(of: log, after: position, epoch, limit: limit)
    }

    public func add(
        _ amount: Int, to counter: String, floor: Int, limit: Int, milliseconds: Int
    ) async throws(CoordinatorError) -> Int? {
        let operation = "add to a counter"
        guard amount.magnitude <= UInt(Self.largest) else {
            throw .failed(operation: operation, reason: "\(amount) is more than \(Self.largest)")
        }
        let (limit, floor) = (min(max(limit, -Self.largest), Self.largest), min(max(floor, 0), Self.largest))
        let reply = try await client.run(
            .add, keys: [keys(.counter, counter)[0]], arguments: ["\(amount)", "\(limit)", life(milliseconds), "\(floor)"],
            copying: Self.copying, operation: operation)
        if reply == .null { return nil }
        guard let count = reply.integer else { throw unexpected(reply, operation) }
        return count
    }

    public func count(of counter: String) async throws(CoordinatorError) -> Int {
        let operation = "read a counter"
        let key = keys(.counter, counter)[0]
        let reply = try await client.send(ValkeyCommand("GET", key), key: key, operation: operation)
        if reply == .null { return 0 }
        guard let count = reply.text.flatMap({ Int($0) }) else { throw unexpected(reply, operation) }
        return count
    }

    public func probe() async throws(CoordinatorError) -> [String] { try await EngineProbe(store: self).run() }

    private func page(
        of log: String, after position: LogPosition?, _ epoch: String?, limit: Int
    ) async throws(CoordinatorError) -> LogPage {
        let operation = "read the log"
        let reply = try await client.run(
            .read, keys: keys(.log, log),
            arguments: [position?.id ?? "", "\(min(max(1, limit), 10_000))", UUID().uuidString, epoch ?? ""],
            operation: operation)
        guard let page = LogPage(reply) else { throw unexpected(reply, operation) }
        return page
    }

    enum Kind: String { case lease, log, counter }

    /// The two keys of a lease or a log; a counter has the first. The text in braces decides the slot, so both keys are in one.
    func keys(_ kind: Kind, _ name: String) -> [String] {
        var tag = "\(kind.rawValue)/"
        for scalar in name.unicodeScalars {
            switch scalar {
            case "{": tag += "%7B"
            case "}": tag += "%7D"
            case "%": tag += "%25"
            default: tag.unicodeScalars.append(scalar)
            }
        }
        return ["\(prefix){\(tag)}", "\(prefix){\(tag)}+"]
    }

    private func life(_ milliseconds: Int) -> String { "\(min(max(1, milliseconds), Self.longestLife))" }

    private func unexpected(_ reply: RESPValue, _ operation: String) -> CoordinatorError {
        .failed(operation: operation, reason: "the engine answers with \(String(describing: reply).prefix(200))")
    }
}

extension LogPosition {
    /// Reads the id of a stream's entry: `1795397975290-0`.
    init?(_ reply: RESPValue) {
        guard let parts = reply.text?.split(separator: "-", omittingEmptySubsequences: false), parts.count == 2,
            let milliseconds = Int(parts[0]), let number = Int(parts[1])
        else { return nil }
        self.init(milliseconds: milliseconds, number: number)
    }

    var id: String { "\(max(0, milliseconds))-\(max(0, number))" }
}

extension LogPage {
    /// Reads the reply of the script `read`.
    fileprivate init?(_ reply: RESPValue) {
        guard let parts = reply.array, parts.count == 4, let epoch = parts[0].text, let end = LogPosition(parts[1]),
            let isComplete = parts[2].integer, let entries = parts[3].array
        else { return nil }
        var records: [Record] = []
        for entry in entries {
            guard let entry = entry.array, entry.count == 2, let position = LogPosition(entry[0]), let fields = entry[1].array,
                fields.count >= 2, let text = fields[1].text
            else { return nil }
            records.append(Record(position: position, text: text))
        }
        self.init(records: records, epoch: epoch, end: end, isComplete: isComplete == 1)
    }
}

extension ValkeyCoordinator {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The engine, or some nodes of a cluster.
        public var addresses: [ValkeyAddress]
        /// The user of the engine; `nil` is its default user.
        public var user: String?
        /// The user's password; `nil` if the engine has none.
        public var password: String?
        /// Whether connections are encrypted.
        public var tls: Bool
        /// A file with authorities (PEM) whose certificates are trusted instead of those of the system.
        public var ca: String?
        /// The beginning of the names of all keys.
        public var prefix: String
        /// The time for an answer.
        public var deadline: Interval

        private enum CodingKeys: CodingKey { case addresses, user, password, tls, ca, prefix, deadline }

        public init(
            addresses: [ValkeyAddress], user: String? = nil, password: String? = nil, tls: Bool = false, ca: String? = nil,
            prefix: String = "onesheet:", deadline: Interval = Interval(.milliseconds(50))
        ) {
            self.addresses = addresses
            self.user = user
            self.password = password
            self.tls = tls
            self.ca = ca
            self.prefix = prefix
            self.deadline = deadline
        }

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                addresses: try keys.decode([ValkeyAddress].self, forKey: .addresses),
                user: try keys.decodeIfPresent(String.self, forKey: .user),
                password: try keys.decodeIfPresent(String.self, forKey: .password),
                tls: try keys.decodeIfPresent(Bool.self, forKey: .tls) ?? false,
                ca: try keys.decodeIfPresent(String.self, forKey: .ca),
                prefix: try keys.decodeIfPresent(String.self, forKey: .prefix) ?? "onesheet:",
                deadline: try keys.decodeIfPresent(Interval.self, forKey: .deadline) ?? Interval(.milliseconds(50)))
        }

        /// - Throws: `ConfigurationError` for the first invalid value.
        func check() throws(ConfigurationError) {
            func refuse(_ path: String, _ message: String) throws(ConfigurationError) {
                throw ConfigurationError(path: path, message: message)
            }
            if addresses.isEmpty { try refuse("addresses", "needs at least one address such as 10.0.0.1:6379") }
            if addresses.count > 100 { try refuse("addresses", "needs some nodes of the cluster, 100 at most") }
            if user != nil, password == nil { try refuse("user", "needs a “password” too") }
            if password?.isEmpty ?? false { try refuse("password", "is empty") }
            if ca != nil, !tls { try refuse("ca", "needs “tls: true”") }
            if prefix.contains(where: { "{}".contains($0) }) || prefix.utf8.count > 100 {
                try refuse("prefix", "“\(prefix)” needs at most 100 bytes and no braces, which decide where a cluster stores a key")
            }
            if !(0.001...10).contains(deadline.seconds) { try refuse("deadline", "needs to be from 1ms to 10s") }
        }

        /// The settings of encrypted connections; `nil` if they are not encrypted.
        func tlsContext() throws(ConfigurationError) -> NIOSSLContext? {
            guard tls else { return nil }
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            if let ca { configuration.trustRoots = .file(ca) }
            do {
                return try NIOSSLContext(configuration: configuration)
            } catch {
                throw ConfigurationError(path: ca == nil ? "tls" : "ca", message: "\(ca ?? "the system's authorities"): \(error)")
            }
        }
    }
}
