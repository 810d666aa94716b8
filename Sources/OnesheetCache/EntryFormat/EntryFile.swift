internal import FoundationEssentials
package import NIOCore
package import OnesheetCore

/// An entry's file, opened for reading. It returns checked data or throws `EntryDamage`.
struct EntryFile: ~Copyable {
    private let file: OpenFile
    private let name: Digest128
    /// Larger than any entry, because bodies fit in memory. A sparse file can have any length.
    private static let lengthLimit = 1 << 31
    let status: FileStatus

    /// Opens the file at `path`; `nil` if there is none.
    /// - Throws: `EntryDamage` if it is not a regular file or too long, `FileFailure` if it cannot be opened.
    static func at(_ path: String, named name: Digest128) throws -> EntryFile? {
        do throws(FileFailure) {
            let file = try EntryFile(path: path, name: name)
            if file.status.size <= lengthLimit { return file }
        } catch {
            if error.isAbsence { return nil }
            if error.isNotAFile { throw EntryDamage.notAnEntry }
            throw error
        }
        throw EntryDamage.length
    }

    /// Whether `error` concerns only this file, and not the folder or the system.
    static func isDamaged(_ error: any Error) -> Bool {
        error is EntryDamage || (error as? FileFailure)?.meansDamage == true
    }

    private init(path: String, name: Digest128) throws(FileFailure) {
        let file = try OpenFile(path, for: .reading)
        status = try file.status()
        self.name = name
        self.file = file
    }

    /// Only the header.
    func header() throws -> EntryHeader {
        let start = try file.read(first: min(status.size, 4096))
        let header: EntryHeader
        do {
            header = try EntryHeader(start, named: name)
        } catch {
            // Damaged, longer than the bytes that were read, or its lifetime is being extended at this moment.
            header = try EntryHeader(try file.read(first: min(status.size, EntryHeader.lengthLimit)), named: name)
        }
        guard header.length + header.bodyLength == status.size else { throw EntryDamage.length }
        return header
    }

    /// The header, and the entry with its body.
    func entry() throws -> (EntryHeader, CacheEntry) {
        // Of a large file that is no entry, only the start is read.
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

    /// Checks the body, without keeping it in memory.
    /// - Parameter header: that of the file.
    func checkBody(_ header: EntryHeader) throws {
        guard try file.check(header.length..<status.size) == header.bodyDigest else { throw EntryDamage.body }
    }

    /// The bytes of the body in `range`, unchecked.
    /// - Parameter header: that of the file.
    func body(_ range: Range<Int>, _ header: EntryHeader) throws -> ByteBuffer {
        let bytes = try file.read(header.length + range.lowerBound..<header.length + range.upperBound)
        guard bytes.readableBytes == range.count else { throw EntryDamage.length }
        return bytes
    }

    /// Writes a new expiry into the file at `path`.
    static func extend(_ path: String, named name: Digest128, to end: Date?) throws(FileFailure) {
        try OpenFile(path, for: .changing).overwrite(LifeRecord(end: end).bytes(named: name), at: LifeRecord.offset)
    }
}

extension EntryFile {
    /// The entry in the file at `path`, if it is intact and in the page cache. Never waits for a disk.
    /// - Parameters:
    ///   - limit: the largest file to read. A larger one is returned open, and only if it is known to be intact.
    ///   - checked: the files that need no check. This file is added.
    ///   - isUsable: called before any avoidable read, and before each reuse of an open file.
    ///   - reuse: called on each reuse.
    static func resident(
        _ path: String, named name: Digest128, reading limit: Int, checked: CheckedFiles, now: Date,
        where isUsable: @escaping @Sendable (EntryHeader) -> Bool, reuse: @escaping @Sendable () -> Void
    ) -> ReadyLookUp {
        do {
            guard var file = try OpenFile.resident(path), case let status = try file.status(), status.isFile else {
                return .unknown
            }
            let known = checked.header(of: name, status, now: now)
            if let known, !isUsable(known) { return .unknown }
            if status.size > limit {
                guard let known, file.isResident(first: status.size) else { return .unknown }
                let region = file.region(known.length..<status.size)
                let file = ReadyFile(region) {
                    // Removing or replacing the file changes its status too.
                    guard FileStatus(of: region.fileHandle) == status, isUsable(known) else { return false }
                    reuse()
                    return true
                }
                return .ready(ReadyEntry(known.facts, file: file))
            }
            guard let bytes = file.readResident(first: status.size) else { return .unknown }
            // Compare the status after the read too, so that the bytes are those of the check.
            if let known, try file.status() == status { return .ready(ReadyEntry(try known.entry(in: bytes, isChecked: true))) }
            let header = try EntryHeader(bytes, named: name)
            let entry = try header.entry(in: bytes)
            checked.note(name, status: status, header: header, now: now)
            return isUsable(header) ? .ready(ReadyEntry(entry)) : .unknown
        } catch {
            // A blocking lookup reads a damaged file again and finds the fault.
            return (error as? FileFailure)?.isAbsence == true ? .absent : .unknown
        }
    }
}

extension EntryHeader {
    /// The entry in `bytes`, which start with this header.
    package func entry(in bytes: ByteBuffer, isChecked: Bool = false) throws(EntryDamage) -> CacheEntry {
        guard length + bodyLength == bytes.readableBytes,
            let body = bytes.getSlice(at: bytes.readerIndex + length, length: bodyLength)
        else { throw .length }
        guard isChecked || Digest128(checking: body) == bodyDigest else { throw .body }
        var entry = facts
        entry.body = body
        return entry
    }
}

/// The outcome of a lookup that did not wait.
package enum ReadyLookUp: Sendable {
    case ready(ReadyEntry)
    /// The tier has no such entry. `entry(for:)` need not be called, and would count a second miss.
    case absent
    /// Only `entry(for:)` can tell.
    case unknown

    /// The entry, if it is ready.
    package var entry: ReadyEntry? { if case .ready(let entry) = self { entry } else { nil } }
}
