import FoundationEssentials
import OnesheetCore
import OnesheetCrypto
import OnesheetPipeline

/// Which configuration the cached answers of each source come from. Survives restarts, as a digest: the configuration may have secrets.
struct SourceDigests: Sendable {
    private let state: any KeyValueState
    private let changes: SourceConfigurationChanges
    private let clock: WallClock

    init(_ state: any KeyValueState, _ changes: SourceConfigurationChanges, clock: WallClock) {
        self.state = state
        self.changes = changes
        self.clock = clock
    }

    /// A digest of a source's configuration and of the files that it names.
    static func digest(of source: NestedSource, files: [String: String]) -> String {
        var all = ""
        func add(_ text: String) {
            // With its length, so that no two configurations have the same bytes.
            all += "\(text.utf8.count):\(text)"
        }
        func add(_ value: ConfigurationValue) {
            switch value {
            case .null: add("null")
            case .scalar(let text):
                add("scalar")
                add(text)
            case .list(let elements):
                add("list \(elements.count)")
                for element in elements { add(element) }
            case .mapping(let keys):
                add("mapping \(keys.count)")
                for (key, value) in keys.sorted(by: { $0.key < $1.key }) {
                    add(key)
                    add(value)
                }
            }
        }
        add(source.type)
        add(source.withoutPace)
        for (path, digest) in files.sorted(by: { $0.key < $1.key }) {
            add(path)
            add(digest)
        }
        return SHA256.hash(all.utf8).hexadecimal
    }

    /// The digests of all sources by their names. That of a source with members changes with theirs.
    static func digests(
        of configured: [String: NestedSource], sources: [String: any ContentSource], files: SourceFiles
    ) -> [String: String] {
        func digest(_ name: String) -> String? {
            guard let nested = configured[name] else { return nil }
            var parts = files.digests(of: name)
            // No file has such a path. Sources are not made of themselves, so this ends.
            for member in sources[name]?.members ?? [] { parts["\(member.name)://"] = digest(member.name) }
            return Self.digest(of: nested, files: parts)
        }
        return Dictionary(uniqueKeysWithValues: configured.keys.compactMap { name in digest(name).map { (name, $0) } })
    }

    /// Restores the record of the source `name`: which configuration its answers are from, and when that last changed. Records `digest` if
    /// there is none, as after an earlier version.
    /// - Returns: the digest of the configuration that the answers are from; `nil` if it is unknown.
    func restore(_ name: String, orRecord digest: String?) async throws -> String? {
        guard let record = try await state.value(for: name).flatMap(Record.init) else {
            if let digest { try await state.set(Record(digest: digest).text, for: name) }
            return digest
        }
        if let moment = record.changed { changes.note(name, at: moment) }
        return record.digest
    }

    /// Records that the answers of `name` are from now on from the configuration of `digest`.
    func change(_ name: String, to digest: String) async throws {
        let now = clock.now
        changes.note(name, at: now)
        try await state.set(Record(digest: digest, changed: now).text, for: name)
    }

    /// The digest, and when it last changed if it ever did.
    private struct Record {
        let digest: String
        var changed: Date?

        init(digest: String, changed: Date? = nil) {
            self.digest = digest
            self.changed = changed
        }

        init?(_ text: String) {
            let parts = text.pieces(at: " ")
            guard let digest = parts.first, digest.utf8.count == 64 else { return nil }
            self.digest = String(digest)
            changed = parts.count > 1 ? Double(String(parts[1])).map(Date.init(timeIntervalSince1970:)) : nil
        }

        var text: String { changed.map { "\(digest) \($0.timeIntervalSince1970)" } ?? digest }
    }
}

extension NestedSource {
    /// The keys that say how fast and how much a source may ask, and on which way. Its answers do not depend on them.
    private static let pace = ["limits", "rate", "timeout", "answerBytes", "proxy"]

    fileprivate var withoutPace: ConfigurationValue {
        guard case .mapping(let keys) = configuration else { return configuration }
        return .mapping(keys.filter { !Self.pace.contains($0.key) })
    }
}
