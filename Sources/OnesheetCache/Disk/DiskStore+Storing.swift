internal import FoundationEssentials
internal import NIOCore
internal import OnesheetCore

extension DiskStore {
    /// Stores `entry`; what is there afterwards is the whole entry or what was there before.
    /// - Parameters:
    ///   - generation: nothing is stored if the folder has another one; `nil` stores in any case.
    ///   - isOrdered: whether it is stored whatever has to go for it.
    /// - Returns: whether the generation was the same.
    func store(
        _ entry: CacheEntry, for key: CacheKey, ifGeneration generation: Int? = nil, isOrdered: Bool = false
    ) throws(CacheError) -> Bool {
        let name = key.entryName
        let now = clock.now
        let end = life.end(of: entry, now: now)
        if let end, end <= now {
            try remove(key)
            return true
        }
        let header = EntryHeader.bytes(of: entry, for: key, named: name, end: end)
        let length = header.readableBytes + entry.body.readableBytes
        let row = IndexRow(name: name, key: key, entry: entry, length: length, stored: now, end: end)
        guard row.bytes <= settings.budgets[key.kind] / 2, header.readableBytes < EntryHeader.lengthLimit else {
            count(key) { $0.evictions["too large", default: 0] += 1 }
            try remove(key)
            return true
        }
        return try withFolder("store in") { folder in
            guard try admits(row, isOrdered: isOrdered, in: folder) else {
                count(key) { $0.evictions["asked for once", default: 0] += 1 }
                return true
            }
            try makeRoom(for: row, in: folder)
            let temporary = folder.session.temporaryPath()
            let isCurrent = try removing(temporary) {
                try write(header, entry.body, to: temporary)
                return try folder.index.store(row, ifGeneration: generation) { try place(temporary, row.name) }
            }
            if isCurrent { count(key) { $0.stores += 1 } }
            return isCurrent
        }
    }

    /// Runs `body` and removes what is left of the file at `temporary`: a stored one has been moved.
    private func removing<Answer>(_ temporary: String, after body: () throws -> Answer) throws -> Answer {
        do {
            let answer = try body()
            try Files.remove(temporary)
            return answer
        } catch {
            let failure = error
            do { try Files.remove(temporary) } catch { throw failure }
            throw failure
        }
    }

    private func write(_ header: ByteBuffer, _ body: ByteBuffer, to path: String) throws(FileFailure) {
        let file = try OpenFile(path, for: .writing)
        try file.write(header)
        try file.write(body)
        if settings.isSynced { try file.sync() }
    }

    /// Moves a written file to where look-ups find it.
    private func place(_ temporary: String, _ name: Digest128) throws(FileFailure) {
        let path = layout.entry(name)
        let folders = layout.folders(of: name)
        // A link among them would lead out of the folder.
        var areThere = true
        for folder in folders where try FileStatus(of: folder)?.isFolder != true { areThere = false }
        if !areThere {
            // Where the whole folder is gone, that is found out first.
            guard try FileStatus(of: layout.entries)?.isFolder == true else {
                throw FileFailure("find", layout.entries, code: FileFailure.absence)
            }
            for folder in folders { try Files.makeOwnFolder(folder, now: clock.now) }
        }
        do {
            try Files.move(temporary, to: path)
        } catch {
            guard error.isNotAFile || error.isExistence else { throw error }
            try Files.clear(path, now: clock.now)
            try Files.move(temporary, to: path)
        }
    }

    /// Makes room in the budget of the kind, and above the floor of free space, for what is to be stored.
    private func makeRoom(for row: IndexRow, in folder: OpenFolder) throws {
        let budget = settings.budgets[row.key.kind]
        while let bytes = try folder.index.totals()[row.key.kind]?.bytes, bytes + row.bytes > budget {
            let excess = bytes + row.bytes - budget
            guard try evict(row.key.kind, bytes: excess + budget / 256, reason: "budget", in: folder) > 0 else { break }
        }
        while try !leavesFloor(row.bytes, in: folder) {}
    }

    /// Bytes that would have to be freed so that `bytes` can be stored above the floor of free space; none if there is no floor.
    func lack(of bytes: Int) throws -> Int {
        let space = try Files.space(at: layout.path)
        let floor = settings.minimumFreeSpace.size(on: space.all)
        return floor > 0 ? max(floor + bytes - space.free, 0) : 0
    }

    /// Whether storing `bytes` leaves enough of the disk free for others. If not, one step is made towards it.
    private func leavesFloor(_ bytes: Int, in folder: OpenFolder) throws -> Bool {
        let lack = try lack(of: bytes)
        guard lack > 0 else { return true }
        var freed = 0
        // Where all that is here would not be enough, nothing goes for it.
        if try folder.index.totals().values.reduce(0, { $0 + $1.bytes }) >= lack {
            for kind in CacheKind.allCases { freed += try evict(kind, bytes: lack, reason: "free space", in: folder) }
        }
        guard freed > 0 else {
            let space = try Files.space(at: layout.path)
            let floor = settings.minimumFreeSpace.size(on: space.all)
            throw CacheError.fileSystem(
                operation: "store in", path: layout.path,
                reason: "\(space.free) bytes are free, and \(floor) are to stay so (cache.disk.free)")
        }
        return false
    }

    /// One step of evicting what is worth least, until `bytes` are freed; answers with how many entries went.
    func evict(_ kind: CacheKind, bytes: Int = .max, reason: String, in folder: OpenFolder) throws -> Int {
        try removeStep(.leastWorth(kind), bytes: bytes, reason: reason, in: folder).entries
    }
}
