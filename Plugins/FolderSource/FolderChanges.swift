internal import FoundationEssentials
internal import Logging
internal import OnesheetCore

/// Tells which pictures of a folder are other ones than when it was last asked, also before a restart.
///
/// By looking: a look takes microseconds for each file, sees everything on every file system, and needs no watches that can run out.
actor FolderChanges {
    private let folder: Folder
    private let state: any KeyValueState
    private var known: FolderFiles?
    /// What is kept of the files over restarts, as far as it is known to be kept.
    private var kept: String?
    private static let key = "files"

    init(folder: Folder, state: any KeyValueState) { (self.folder, self.state) = (folder, state) }

    /// What has changed. Once it is asked again what it told is settled, and is not told after a restart.
    func next() async throws(SourceError) -> TitleChanges {
        let files = try await folder.files()
        guard let known else {
            self.known = files
            kept = try await read()
            return kept == files.digest ? .none : .all
        }
        self.known = files
        let changed = files.changes(since: known)
        guard changed.isEmpty else { return .titles(changed) }
        if kept != files.digest {
            try await keep(files.digest)
            kept = files.digest
        }
        return .none
    }

    private func read() async throws(SourceError) -> String? {
        do { return try await state.value(for: Self.key) } catch {
            throw .unavailable(reason: "what the folder was like cannot be read: \(error)")
        }
    }

    private func keep(_ digest: String) async throws(SourceError) {
        do { try await state.set(digest, for: Self.key) } catch {
            throw .unavailable(reason: "what the folder is like cannot be kept: \(error)")
        }
    }
}

/// A folder's pictures at a moment: what their files are, by id.
struct FolderFiles: Sendable, Equatable {
    private let identities: [ExactText: [ExactText]]
    /// Those that may have changed again without a trace, because they changed just then.
    private let unsettled: Set<ExactText>

    init(_ pictures: [Picture], unsettled: Set<ExactText>) {
        identities = Dictionary(
            uniqueKeysWithValues: pictures.map { (ExactText($0.id), $0.files.map { ExactText($0.identity) }) })
        self.unsettled = unsettled
    }

    /// Ids whose files came, went or changed.
    func changes(since earlier: FolderFiles) -> [String] {
        let settledSince = earlier.unsettled.subtracting(unsettled)
        let changed = Set(identities.keys).union(earlier.identities.keys).filter {
            identities[$0] != earlier.identities[$0] || settledSince.contains($0)
        }
        return changed.sorted().map(\.description)
    }

    /// Equal for equal files (FNV-1a over all identities in order).
    var digest: String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for id in identities.keys.sorted() {
            for byte in (identities[id] ?? []).map(\.description).joined(separator: "\n").utf8 {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        return String(hash, radix: 16)
    }
}
