internal import FoundationEssentials
internal import Logging
internal import OnesheetCore

/// An index that cannot be used any more.
struct DamagedIndex {
    let path: String
    let reason: String
}

/// Repairs a cache folder: sets aside what cannot be used, makes it again, and says so in the log.
struct FolderRepair {
    let layout: FolderLayout
    let now: Date
    let logger: Logger

    /// The marker that is there. A damaged one makes way for a new one: which index belongs to the folder cannot be told then, and all
    /// that an index says is in the entries too.
    func marker(_ found: FoundMarker) throws(FileFailure) -> FolderMarker? {
        switch found {
        case .absent: return nil
        case .whole(let marker): return marker
        case .damaged(let reason):
            let place = try Files.setAside(layout.marker, now: now)
            logger.warning(
                "The cache's CACHEDIR.TAG was damaged and is made again; no entry is lost",
                metadata: ["reason": "\(reason)", "kept as": "\(place)"])
            return nil
        }
    }

    /// Makes the folders in the folder.
    func makeFolders() throws(FileFailure) {
        for path in [layout.entries, layout.temporary, layout.trash] {
            guard let place = try Files.makeOwnFolder(path, now: now) else { continue }
            logger.warning(
                "Where the cache has a folder there was something else; entries that were in it are made again when they are asked for",
                metadata: ["folder": "\(path)", "kept as": "\(place)"])
        }
    }

    /// Sets an index aside that cannot be used.
    func setAside(_ index: DamagedIndex) throws(FileFailure) {
        let place = try Files.setAside(index.path, keeping: 1, now: now)
        logger.warning(
            "The cache's index was damaged and is made again from the entries; how often each was used is lost, and no entry is",
            metadata: ["reason": "\(index.reason)", "kept as": "\(place)"])
    }

    /// Removes all indexes but the present one, and all but the last that was set aside: each may be as large as the present one.
    func removeIndexes(but present: String) throws(FileFailure) {
        var damaged: [(moment: Substring, name: String)] = []
        for name in try Files.names(in: layout.path, followingLink: true) where !"\(layout.path)/\(name)".hasPrefix(present) {
            if let before = Files.nameBeforeDamage(name) {
                if layout.isIndex(before) { damaged.append((name.dropFirst(before.count), name)) }
            } else if layout.isIndex(name[...]) {
                try Files.clear("\(layout.path)/\(name)", now: now)
            }
        }
        for (_, name) in damaged.sorted(by: { $0.moment < $1.moment }).dropLast() {
            guard try FileStatus(of: "\(layout.path)/\(name)")?.isFolder == false else { continue }
            try Files.remove("\(layout.path)/\(name)")
        }
    }

    /// Takes the rights of others from the folder and from the files that are always in it. Entries are not gone through, which takes
    /// minutes where there are a million: in a folder that nobody else may enter nobody else can read them.
    /// - Parameter isNew: whether the folder is only now becoming a cache; that it was open says nothing then.
    func tighten(isNew: Bool) {
        do {
            guard try Files.tighten(layout.path, followingLink: true) else { return }
            for path in [layout.marker, layout.lock, layout.entries, layout.temporary, layout.trash] { try Files.tighten(path) }
            guard !isNew else { return }
            logger.notice(
                "The cache's folder was open to other users; from now on only the server's own user may enter it",
                metadata: ["folder": "\(layout.path)", "mode": "0700"])
        } catch {
            logger.notice("The cache's folder may be open to other users: \(error.cacheError)")
        }
    }
}
