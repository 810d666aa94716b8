internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore

/// An entry's file, opened for reading. What it answers with was checked, or it throws `EntryDamage`.
struct EntryFile: ~Copyable {
    private let file: OpenFile
    private let name: Digest128
    /// No entry is as long, because no body in memory is; a file may be of any length, and take no room for it.
    private static let lengthLimit = 1 << 31
    let status: FileStatus

    /// Opens the file at `path`; `nil` if there is none.
    /// - Throws: `EntryDamage` if something is there that is no file, `FileFailure` if it cannot be opened.
    static func at(_ path: String, named name: Digest128) throws -> EntryFile? {
        do {
            return try EntryFile(path: path, name: name)
        } catch {
            if error.isAbsence { return nil }
            if error.isNotAFile { throw EntryDamage.notAnEntry }
            throw error
        }
    }

    /// Whether `error` is about this file alone, and not about the folder or the system.
    static func isDamaged(_ error: any Error) -> Bool {
        error is EntryDamage || (error as? FileFailure)?.meansDamage == true
    }

    private init(path: String, name: Digest128) throws(FileFailure) {
        let file = try OpenFile(path, for: .reading)
        status = try file.status()
        self.name = name
        self.file = file
    }

    /// The header alone.
    func header() throws -> EntryHeader {
        let start = try file.read(first: min(status.size, 4096))
        let header: EntryHeader
        do {
            header = try EntryHeader(start, named: name)
        } catch {
            // Either damaged, or longer than what was read, or its life was just being extended.
            header = try EntryHeader(try file.read(first: min(status.size, EntryHeader.lengthLimit)), named: name)
        }
        guard header.length + header.bodyLength == status.size, status.size <= Self.lengthLimit else { throw EntryDamage.length }
        return header
    }

    /// The header, and the entry with its body.
    func entry() throws -> (EntryHeader, CacheEntry) {
        // Of a file that is large without being an entry, only the start is read.
        if status.size > EntryHeader.lengthLimit { _ = try header() }
        let bytes = try file.read(first: status.size)
        let header: EntryHeader
        do {
            header = try EntryHeader(bytes, named: name)
        } catch {
            header = try self.header()
        }
        return (header, try header.entry(in: bytes))
    }

    /// Writes a new end of life into the file at `path`.
    static func extend(_ path: String, named name: Digest128, to end: Date?) throws(FileFailure) {
        try OpenFile(path, for: .changing).overwrite(LifeRecord(end: end).bytes(named: name), at: LifeRecord.offset)
    }
}

extension EntryFile {
    /// The entry in the file at `path`, if it is whole and the page cache has it: nothing here waits for a disk.
    /// - Parameters:
    ///   - limit: the length up to which the file is read. A longer one is given open, and only if it is known to be whole.
    ///   - checked: files that need no checking, to which this one is added.
    ///   - isUsable: asked before anything is read that need not be, and each time that an open file is to be used again.
    ///   - reuse: called when it is.
    static func resident(
        _ path: String, named name: Digest128, reading limit: Int, checked: CheckedFiles, now: Date,
        where isUsable: @escaping @Sendable (EntryHeader) -> Bool, reuse: @escaping @Sendable () -> Void
    ) -> ReadyEntry? {
        do {
            guard var file = OpenFile.resident(path), case let status = try file.status(), status.isFile else { return nil }
            let known = checked.header(of: name, status, now: now)
            if let known, !isUsable(known) { return nil }
            if status.size > limit {
                guard let known, file.isResident(first: status.size) else { return nil }
                let region = file.region(known.length..<status.size)
                let file = ReadyFile(region) {
                    // Removing or replacing the file changes its status too.
                    guard FileStatus(of: region.fileHandle) == status, isUsable(known) else { return false }
                    reuse()
                    return true
                }
                return ReadyEntry(known.facts, file: file)
            }
            guard let bytes = file.readResident(first: status.size) else { return nil }
            // The status after reading too: what was read is what was checked then.
            if let known, try file.status() == status { return ReadyEntry(try known.entry(in: bytes, isChecked: true)) }
            let header = try EntryHeader(bytes, named: name)
            let entry = try header.entry(in: bytes)
            checked.note(name, status: status, header: header, now: now)
            return isUsable(header) ? ReadyEntry(entry) : nil
        } catch {
            // The look-up that may wait reads the file again and finds out what is wrong.
            return nil
        }
    }
}

extension EntryHeader {
    /// The entry in `bytes`, whose header this is.
    func entry(in bytes: ByteBuffer, isChecked: Bool = false) throws(EntryDamage) -> CacheEntry {
        guard length + bodyLength == bytes.readableBytes,
            let body = bytes.getSlice(at: bytes.readerIndex + length, length: bodyLength)
        else { throw .length }
        guard isChecked || Digest128(checking: body) == bodyDigest else { throw .body }
        var entry = facts
        entry.body = body
        return entry
    }
}
