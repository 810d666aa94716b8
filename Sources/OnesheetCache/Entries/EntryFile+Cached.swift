internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore

extension EntryFile {
    /// The entry in the file at `path`, if it is whole and the page cache has it: nothing here waits for a disk.
    /// - Parameters:
    ///   - limit: the length up to which the file is read. A longer one is given open, and only if it is known to be whole.
    ///   - checked: files that need no checking, to which this one is added.
    ///   - isUsable: asked before anything is read that need not be, and each time that an open file is to be used again.
    ///   - reuse: called when it is.
    static func cached(
        _ path: String, named name: Digest128, reading limit: Int, checked: CheckedFiles, now: Date,
        where isUsable: @escaping @Sendable (EntryHeader) -> Bool, reuse: @escaping @Sendable () -> Void
    ) -> ReadyEntry? {
        do {
            guard var file = OpenFile.cached(path), case let status = try file.status(), status.isFile else { return nil }
            let known = checked.header(of: name, status, now: now)
            if let known, !isUsable(known) { return nil }
            if status.size > limit {
                guard let known, file.isCached(first: status.size) else { return nil }
                let region = file.region(known.length..<status.size)
                let file = ReadyFile(region) {
                    // Removing or replacing the file changes its status too.
                    guard FileStatus(of: region.fileHandle) == status, isUsable(known) else { return false }
                    reuse()
                    return true
                }
                return ReadyEntry(known.facts, file: file)
            }
            guard let bytes = file.readCached(first: status.size) else { return nil }
            // The status after reading too: what was read is what was checked then.
            if let known, try file.status() == status { return ReadyEntry(try known.entry(in: bytes, isChecked: true)) }
            let header = try EntryHeader(bytes, named: name)
            let entry = try header.entry(in: bytes)
            checked.note(name, status, header, now: now)
            return isUsable(header) ? ReadyEntry(entry) : nil
        } catch {
            // Whoever reads it with all the time that it takes finds out what is wrong.
            return nil
        }
    }
}
