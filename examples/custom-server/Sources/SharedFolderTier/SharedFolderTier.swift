import Foundation
import NIOCore
public import OnesheetCore
import Synchronization

/// A cache tier in a folder that several servers mount, so that each finds the images of the others.
///
/// One file per entry. All operations except lookups lock the folder. That suffices for some thousand posters; a store for millions
/// needs an index.
public struct SharedFolderTier: TierPlugin {
    public struct Configuration: Decodable, Sendable {
        let path: String
        let expires: Interval?
    }

    public static let type = "shared-folder"
    public static let sampleConfiguration = """
        path: /mnt/posters   # a folder of its own, which all servers mount
        expires: 30d         # the longest that an entry stays
        """

    public let name = "shared-folder"
    private let folder: URL
    private let limit: Double
    private let clock: WallClock
    private let counts = Counts()

    public init(_ configuration: Configuration, context: PluginContext) throws {
        try self.init(
            path: configuration.path, expires: .seconds(configuration.expires?.seconds ?? 30 * 86_400), clock: context.clock)
    }

    /// - Parameter expires: the longest lifetime of an entry.
    public init(path: String, expires: CacheExpiration, clock: WallClock) throws {
        folder = URL(filePath: path, directoryHint: .isDirectory)
        limit = expires.moment(from: clock.now)?.timeIntervalSince(clock.now) ?? .infinity
        self.clock = clock
        try FileManager.default.createDirectory(at: folder.appending(path: "entries"), withIntermediateDirectories: true)
    }

    public func entry(for key: CacheKey) async throws(CacheError) -> CacheEntry? {
        let found = try trying("look up") { try fresh(key) }
        counts.change(key) { if found == nil { $0.misses += 1 } else { $0.hits += 1 } }
        return found
    }

    public func contains(_ key: CacheKey) async throws(CacheError) -> Bool { try trying("look up") { try fresh(key) != nil } }

    public func store(_ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int?) async throws(CacheError) -> Bool {
        let end = min(entry.expires ?? .distantFuture, clock.now.addingTimeInterval(limit))
        let file = EntryFile(key: key, entry: entry, end: end)
        let isStored = try locked("store") {
            if let generation, try readGeneration() != generation { return false }
            try file.bytes.write(to: url(key), options: .atomic)
            return true
        }
        if isStored { counts.change(key) { $0.stores += 1 } }
        return isStored
    }

    public func remove(_ key: CacheKey) async throws(CacheError) {
        try locked("remove") { if try EntryFile(at: url(key))?.key == key { try FileManager.default.removeItem(at: url(key)) } }
    }

    public func remove(_ selection: CacheSelection, dryRun: Bool) async throws(CacheError) -> CacheRemoval {
        try locked("remove") {
            var removal = CacheRemoval()
            for (url, file) in try files() where takes(selection, file) {
                removal = removal + CacheRemoval(entries: 1, bytes: file.bytes.count)
                if !dryRun { try FileManager.default.removeItem(at: url) }
            }
            return removal
        }
    }

    public func forEachKey(_ visit: @Sendable (CacheKey) -> Void) async throws(CacheError) {
        for (_, file) in try locked("list", files) { visit(file.key) }
    }

    public func statistics() async throws(CacheError) -> CacheStatistics {
        var sources = counts.all
        for (_, file) in try locked("count", files) {
            var figures = CacheFigures()
            (figures.entries, figures.bytes, figures.oldest) = (1, file.bytes.count, file.entry.created)
            let source = String(file.key.source)
            sources[source] = (sources[source] ?? CacheFigures()) + figures
        }
        return CacheStatistics(byteLimit: .max, sources: sources)
    }

    public func generation() async throws(CacheError) -> Int { try locked("look for purges", readGeneration) }

    public func raiseGeneration() async throws(CacheError) -> Int {
        try locked("note a purge") {
            let next = try readGeneration() + 1
            try Data("\(next)".utf8).write(to: folder.appending(path: "generation"), options: .atomic)
            return next
        }
    }

    private func readGeneration() throws -> Int {
        let file = folder.appending(path: "generation")
        guard FileManager.default.fileExists(atPath: file.path) else { return 0 }
        return Int(String(decoding: try Data(contentsOf: file), as: UTF8.self)) ?? 0
    }

    private func fresh(_ key: CacheKey) throws -> CacheEntry? {
        // Two keys can have one file name. Then the file may belong to the other key.
        guard let file = try EntryFile(at: url(key)), file.key == key, isFresh(file) else { return nil }
        return file.entry
    }

    /// Entries that seem to be made five minutes in the future or later expire, because the clock was set back.
    private func isFresh(_ file: EntryFile) -> Bool { file.entry.created <= clock.now + 300 && clock.now < file.end }

    private func takes(_ selection: CacheSelection, _ file: EntryFile) -> Bool {
        switch selection {
        case .all: true
        case .expired: !isFresh(file)
        case .tag(let tag): file.entry.tags.contains(tag)
        }
    }

    private func url(_ key: CacheKey) -> URL {
        let bytes = Array(key.description.utf8)
        let name = [checksum(bytes), checksum(bytes.reversed())].map { String($0, radix: 36) }.joined(separator: "-")
        return folder.appending(path: "entries/\(name)")
    }

    private func files() throws -> [(URL, EntryFile)] {
        let entries = folder.appending(path: "entries")
        return try FileManager.default.contentsOfDirectory(at: entries, includingPropertiesForKeys: nil).compactMap { url in
            try EntryFile(at: url).map { (url, $0) }
        }
    }

    /// Runs `body` while no other process or thread runs it.
    private func locked<Answer>(_ operation: String, _ body: () throws -> Answer) throws(CacheError) -> Answer {
        try trying(operation) {
            let lock = open(folder.appending(path: "lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            defer { close(lock) }
            return try body()
        }
    }

    private func trying<Answer>(_ operation: String, _ body: () throws -> Answer) throws(CacheError) -> Answer {
        do { return try body() } catch { throw .tier(operation: operation, reason: "\(error)") }
    }
}

/// The file of an entry: its expiry, a checksum, and the encoded entry.
private struct EntryFile {
    let key: CacheKey
    let entry: CacheEntry
    let end: Date
    let bytes: Data

    init(key: CacheKey, entry: CacheEntry, end: Date) {
        let encoded = entry.encoded(for: key)
        var buffer = ByteBuffer()
        buffer.writeInteger(end.timeIntervalSince1970.bitPattern)
        buffer.writeInteger(checksum(encoded.readableBytesView))
        buffer.writeImmutableBuffer(encoded)
        (self.key, self.entry, self.end, bytes) = (key, entry, end, Data(buffer.readableBytesView))
    }

    /// Reads the file; `nil` if there is none, or if it is damaged.
    init?(at url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let data = try Data(contentsOf: url)
        var buffer = ByteBuffer(bytes: data)
        guard let end = buffer.readInteger(as: UInt64.self), let sum = buffer.readInteger(as: UInt64.self),
            sum == checksum(buffer.readableBytesView), let (key, entry) = CacheEntry.decode(buffer)
        else { return nil }
        (self.key, self.entry, bytes) = (key, entry, data)
        self.end = Date(timeIntervalSince1970: Double(bitPattern: end))
    }
}

/// Counters since the start, by source.
private final class Counts: Sendable {
    private let figures = Mutex<[String: CacheFigures]>([:])

    var all: [String: CacheFigures] { figures.withLock { $0.filter { $0.value != CacheFigures() } } }

    func change(_ key: CacheKey, _ body: (inout CacheFigures) -> Void) {
        figures.withLock { body(&$0[String(key.source), default: CacheFigures()]) }
    }
}

/// 64-bit FNV-1a. Detects damage, not forgery.
private func checksum(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}
