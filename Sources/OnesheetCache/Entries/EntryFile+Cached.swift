internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore

extension EntryFile {
    /// The entry in the file at `path`, if it is whole and the page cache has it: nothing here waits for a disk.
    /// - Parameters:
    ///   - limit: the length up to which the file is read. A longer one is given open, and only if it is known to be whole.
    ///   - checked: files that need no checking, to which this one is added.
    ///   - isWanted: asked before anything is read that need not be.
    static func cached(
        _ path: String, named name: Digest128, reading limit: Int, checked: CheckedFiles, now: Date,
        where isWanted: (EntryHeader) -> Bool
    ) -> ReadyEntry? {
        do {
            guard var file = OpenFile.cached(path), case let status = try file.status() else { return nil }
            let known = checked.header(of: name, status, now: now)
            if let known, !isWanted(known) { return nil }
            if status.size > limit {
                guard let known, file.isCached(first: status.size) else { return nil }
                return ReadyEntry(known.facts, file: file.region(known.length..<status.size))
            }
            guard let bytes = file.readCached(first: status.size) else { return nil }
            // The status after reading too: what was read is what was checked then.
            if let known, try file.status() == status { return ReadyEntry(try known.entry(in: bytes, isChecked: true)) }
            let header = try EntryHeader(bytes, named: name)
            let entry = try header.entry(in: bytes)
            checked.note(name, status, header, now: now)
            return isWanted(header) ? ReadyEntry(entry) : nil
        } catch {
            // Whoever reads it with all the time that it takes finds out what is wrong.
            return nil
        }
    }
}
