#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
internal import NIOCore
internal import OnesheetCore

/// Reads, writes and deletes the files of objects, on the calling thread.
///
/// A write goes to a file of its own under `.tmp` and is renamed: a reader finds the old object or the new one, also if the writer is
/// killed. Writes and deletions of one name exclude each other by a lock, so that a condition is checked and used in one step.
struct ObjectFolder: Sendable {
    let root: String
    private let locks: NameLocks

    /// Files under `.tmp` that are older than this belong to no running server, in seconds.
    private static let oldestLeftover = 3600

    init(root: String) {
        self.root = root
        locks = NameLocks(folder: "\(root)/.locks")
    }

    private var temporary: String { "\(root)/.tmp" }

    func read(_ path: ObjectPath, limit: Int) throws(StoreError) -> StoredObject? {
        do throws(FileError) { return try file(of: path, limit: limit)?.object() } catch { throw error.storeError("get") }
    }

    func readStart(of path: ObjectPath, count: Int, limit: Int) throws(StoreError) -> ObjectStart? {
        do throws(FileError) { return try file(of: path, limit: limit)?.start(count) } catch { throw error.storeError("get") }
    }

    private func file(of path: ObjectPath, limit: Int) throws(FileError) -> ObjectFile? {
        guard let file = try ObjectFile(at: place(of: path)) else { return nil }
        guard file.bodyLength <= limit else { throw FileError(path.name, meaning: .tooLarge(name: path.name, limit: limit)) }
        return file
    }

    /// - Returns: the new revision; `nil` if the condition does not hold.
    func write(
        _ body: ByteBuffer, to path: ObjectPath, if condition: StoreCondition, by deadline: ContinuousClock.Instant
    ) throws(StoreError) -> String? {
        do throws(FileError) {
            let file = "\(temporary)/\(Self.randomName())"
            let revision = try writeTemporary(body, to: file)
            var isMoved = false
            defer { if !isMoved { unlink(file) } }
            guard let lock = try locks.lock(path, by: deadline) else {
                throw FileError(path.name, meaning: .timedOut(operation: "put"))
            }
            defer { lock.unlock() }
            guard try holds(condition, for: path) else { return nil }
            // A file system that hung has let this go so late that the caller counts it as failed, and may have written since.
            try Self.check(deadline, for: path, "put")
            try move(file, to: path)
            isMoved = true
            return revision
        } catch {
            throw error.meansInvalidName ? .invalidName(path.name) : error.storeError("put")
        }
    }

    func delete(_ path: ObjectPath, by deadline: ContinuousClock.Instant) throws(StoreError) {
        do throws(FileError) {
            guard try ObjectFile(at: place(of: path)) != nil else { return }
            guard let lock = try locks.lock(path, by: deadline) else {
                throw FileError(path.name, meaning: .timedOut(operation: "delete"))
            }
            defer { lock.unlock() }
            try Self.check(deadline, for: path, "delete")
            if unlink(place(of: path)) != 0, case let error = FileError(place(of: path)), !error.isAbsence { throw error }
        } catch {
            throw error.storeError("delete")
        }
        removeEmptyFolders(above: path)
    }

    /// Removes what killed servers have left.
    func removeLeftovers() throws(StoreError) {
        do throws(FileError) {
            try makeOwnFolders()
            let now = time(nil)
            // Somebody who may write here may put a link to another folder in its place.
            let folder = open(temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard folder >= 0 else { throw FileError(temporary) }
            defer { close(folder) }
            for item in try Directory.items(of: temporary) {
                var facts = stat()
                guard fstatat(folder, item.name, &facts, AT_SYMLINK_NOFOLLOW) == 0, now - facts.modified > Self.oldestLeftover
                else { continue }
                unlinkat(folder, item.name, 0)
            }
        } catch {
            throw error.storeError("clean")
        }
    }

    /// Whether two holders exclude each other, as this machine sees it.
    func excludesOthers() throws(StoreError) -> Bool {
        do throws(FileError) { return try locks.excludeOthers() } catch { throw error.storeError("lock") }
    }

    /// - Throws: if the time is over.
    private static func check(
        _ deadline: ContinuousClock.Instant, for path: ObjectPath, _ operation: String
    ) throws(FileError) {
        guard ContinuousClock.now < deadline else { throw FileError(path.name, meaning: .timedOut(operation: operation)) }
    }

    private func place(of path: ObjectPath) -> String { "\(root)/\(path.parts.joined(separator: "/"))" }

    private func holds(_ condition: StoreCondition, for path: ObjectPath) throws(FileError) -> Bool {
        switch condition {
        case .none: true
        case .absent: try ObjectFile(at: place(of: path)) == nil
        case .revision(let revision): try ObjectFile(at: place(of: path))?.revision == revision
        }
    }

    /// Writes the file of a new object, and makes the folder for such files if it is missing.
    private func writeTemporary(_ body: ByteBuffer, to file: String) throws(FileError) -> String {
        do throws(FileError) {
            return try ObjectFile.write(body, to: file)
        } catch {
            guard error.isAbsence else { throw error }
            try makeOwnFolders()
            return try ObjectFile.write(body, to: file)
        }
    }

    /// Renames `file`, and makes the folders on the way. Another server may remove an empty one at the same moment, so that is tried
    /// again.
    private func move(_ file: String, to path: ObjectPath) throws(FileError) {
        for attempt in 1...20 {
            if rename(file, place(of: path)) == 0 { return }
            let error = FileError(place(of: path))
            guard error.code == ENOENT, attempt < 20 else { throw error }
            var folder = root
            for part in path.parts.dropLast() {
                folder += "/\(part)"
                if mkdir(folder, 0o770) == 0 { continue }
                let error = FileError(folder)
                guard error.code == EEXIST || error.code == ENOENT else { throw error }
            }
        }
    }

    /// The folder itself is never made: if its file system is not mounted, its objects would land on another disk.
    private func makeOwnFolders() throws(FileError) {
        for folder in [locks.folder, temporary] where mkdir(folder, 0o770) != 0 {
            let error = FileError(folder)
            if error.code == EEXIST { continue }
            guard error.isAbsence else { throw error }
            throw FileError(
                root,
                meaning: .unreachable(operation: "write", reason: "\(root) is not a folder; make it, or mount its file system"))
        }
    }

    /// Best effort: a folder that another server uses again stays.
    private func removeEmptyFolders(above path: ObjectPath) {
        var parts = path.parts.dropLast()
        while !parts.isEmpty, rmdir("\(root)/\(parts.joined(separator: "/"))") == 0 { parts.removeLast() }
    }

    private static func randomName() -> String {
        String(UInt64.random(in: 0 ... .max), radix: 16) + String(UInt64.random(in: 0 ... .max), radix: 16)
    }
}

extension stat {
    /// Seconds since 1970.
    fileprivate var modified: Int {
        #if canImport(Darwin)
            st_mtimespec.tv_sec
        #else
            st_mtim.tv_sec
        #endif
    }
}
