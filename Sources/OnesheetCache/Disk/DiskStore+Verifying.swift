internal import FoundationEssentials
internal import OnesheetCore

extension DiskStore {
    /// Reads every file of a part of the folder, the next from `part` that has any.
    /// - Returns: what was found, and the part to go on with; `nil` at the end.
    func verify(from part: Int, repair: Bool) throws(CacheError) -> (DiskVerification, next: Int?) {
        var part = part
        while part < FolderLayout.partCount {
            let names = try Self.naming("verify") { try namesThatCanBeRead(inPart: part) }
            part += 1
            if !names.isEmpty { return (try verify(names, repair: repair), part) }
        }
        return (DiskVerification(), nil)
    }

    private func verify(_ names: [Digest128], repair: Bool) throws(CacheError) -> DiskVerification {
        try withFolder("verify") { folder in
            var found = DiskVerification()
            var unknown: [Digest128] = []
            let known = try folder.index.known(names)
            for name in names {
                switch try state(of: name) {
                case nil: continue
                case .damaged(let identity):
                    found.damaged += 1
                    if repair { try remove(name, identity, in: folder) }
                case .whole(let bytes):
                    if known.contains(name) {
                        found.whole += 1
                        found.bytes += bytes
                    } else {
                        unknown.append(name)
                    }
                }
            }
            // A removal or a store may have come between; only what is unknown now is.
            let stillUnknown = try unknown.filter { try FileStatus(of: layout.entry($0)) != nil }
            found.unknown = stillUnknown.count - (try folder.index.known(stillUnknown)).count
            if repair { _ = try folder.index.adopt(stillUnknown, row: rowFromFile) }
            return found
        }
    }

    /// Looks for the files of at most a thousand entries of the index after `name`.
    func verifyRows(after name: Data, repair: Bool) throws(CacheError) -> (missing: Int, last: Data?) {
        try withFolder("verify") { folder in
            let rows = try folder.index.keys(after: name, limit: 1024)
            var missing = 0
            for name in rows.compactMap({ Digest128(bytes: $0.name) }) where try FileStatus(of: layout.entry(name)) == nil {
                // Alone, so that it is not one that is just being stored.
                try folder.index.transaction { database in
                    guard try FileStatus(of: layout.entry(name)) == nil, try CacheIndex.knows(name, database) else { return }
                    missing += 1
                    if repair { try CacheIndex.remove([name], database) }
                }
            }
            return (missing, rows.last?.name)
        }
    }

    private enum FileState {
        case whole(Int)
        case damaged(FileStatus.Identity)
    }

    private func state(of name: Digest128) throws -> FileState? {
        let path = layout.entry(name)
        do {
            guard let file = try EntryFile.at(path, named: name) else { return nil }
            _ = try file.entry()
            return .whole(file.status.size)
        } catch  where EntryFile.isDamaged(error) {
            return try FileStatus(of: path).map { .damaged($0.identity) }
        }
    }

    private func remove(_ name: Digest128, _ identity: FileStatus.Identity, in folder: OpenFolder) throws {
        let path = layout.entry(name)
        try folder.index.remove(name) {
            if try FileStatus(of: path)?.identity == identity { try Files.clear(path, now: clock.now) }
        }
    }
}
