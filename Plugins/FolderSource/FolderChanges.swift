internal import FoundationEssentials
internal import Logging
internal import OnesheetCore

/// Reports the pictures of a folder that have changed since the previous call, including changes before a restart.
///
/// Polls: a poll takes microseconds per file, works on every file system, and needs no watches, whose number is limited.
actor FolderChanges {
    private let folder: Folder
    private let state: any KeyValueState
    private var known: FolderFiles?
    /// The stored state of the files, as far as it is known to be stored.
    private var kept: String?
    private static let key = "files"

    init(folder: Folder, state: any KeyValueState) {
        self.folder = folder
        self.state = state
    }

    /// The changes since the previous call. Each call acknowledges the previous result, which is then not repeated after a restart.
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
            throw .unavailable(reason: "the stored state of the folder cannot be read: \(error)")
        }
    }

    private func keep(_ digest: String) async throws(SourceError) {
        do { try await state.set(digest, for: Self.key) } catch {
            throw .unavailable(reason: "the state of the folder cannot be stored: \(error)")
        }
    }
}

/// A folder's pictures at one moment: the identities of their files by id.
struct FolderFiles: Sendable, Equatable {
    private let identities: [ExactText: [ExactText]]
    /// Pictures that may have changed again unnoticed, because they changed just before.
    private let unsettled: Set<ExactText>

    init(_ pictures: [Picture], unsettled: Set<ExactText>) {
        identities = Dictionary(
            uniqueKeysWithValues: pictures.map { (ExactText($0.id), $0.files.map { ExactText($0.identity) }) })
        self.unsettled = unsettled
    }

    /// Ids whose files were added, removed or changed.
    func changes(since earlier: FolderFiles) -> [String] {
        let settledSince = earlier.unsettled.subtracting(unsettled)
        let changed = Set(identities.keys).union(earlier.identities.keys).filter {
            identities[$0] != earlier.identities[$0] || settledSince.contains($0)
        }
        return changed.sorted().flatMap { id in
            let files = Set((identities[id] ?? []) + (earlier.identities[id] ?? []))
            // Files of the same name that are not the title's poster have ids of their own.
            let paths = Set(files.compactMap { $0.description.cut(atLast: "#").map { String($0.before) } })
                .filter { Picture.id(of: $0).isExactly(id.description) }
            return [id.description] + (paths.count > 1 ? paths.sorted().map { "/\($0)" } : [])
        }
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
