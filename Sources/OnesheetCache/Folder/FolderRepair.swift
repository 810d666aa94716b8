internal import FoundationEssentials
internal import Logging
internal import OnesheetCore

/// An unusable index.
struct DamagedIndex {
    let path: String
    let reason: String
}

/// Repairs a cache folder: sets damaged items aside, makes them again, and logs it.
struct FolderRepair {
    let layout: FolderLayout
    let now: Date
    let logger: Logger

    /// The present marker. A damaged one is replaced: it cannot tell which index is the present one, and the entries contain
    /// everything that an index has.
    func marker(_ found: FoundMarker) throws(FileFailure) -> FolderMarker? {
        switch found {
        case .absent: return nil
        case .whole(let marker): return marker
        case .damaged(let reason):
            let place = try Files.setAside(layout.marker, now: now)
            logger.warning(
                "the damaged CACHEDIR.TAG of the cache is replaced; no entry is lost",
                metadata: ["reason": "\(reason)", "kept as": "\(place)"])
            return nil
        }
    }

    /// Makes the subfolders.
    func makeFolders() throws(FileFailure) {
        for path in [layout.entries, layout.temporary, layout.trash] {
            guard let place = try Files.makeOwnFolder(path, now: now) else { continue }
            logger.warning(
                "another item had replaced a folder of the cache; entries of that folder are made again on request",
                metadata: ["folder": "\(path)", "kept as": "\(place)"])
        }
    }

    /// Sets an unusable index aside.
    func setAside(_ index: DamagedIndex) throws(FileFailure) {
        let place = try Files.setAside(index.path, keeping: 1, now: now)
        logger.warning(
            "the damaged index of the cache is rebuilt from the entries; use counts are lost, entries are not",
            metadata: ["reason": "\(index.reason)", "kept as": "\(place)"])
    }

    /// Removes all indexes except the present one and the last that was set aside, because each may be as large as the present one.
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

    /// Removes the permissions of other users from the folder and its fixed files. Skips the entries, which would take minutes for
    /// a million: if others cannot enter the folder, they cannot read the entries.
    /// - Parameter isNew: whether the folder becomes a cache at this moment; then its earlier permissions are no reason for a
    ///   warning.
    func tighten(isNew: Bool) {
        do {
            guard try Files.tighten(layout.path, followingLink: true) else { return }
            for path in [layout.marker, layout.lock, layout.entries, layout.temporary, layout.trash] { try Files.tighten(path) }
            guard !isNew else { return }
            logger.notice(
                "the cache's folder was open to other users; now only the server's user may enter it",
                metadata: ["folder": "\(layout.path)", "mode": "0700"])
        } catch {
            logger.notice("the cache's folder may be open to other users: \(error.cacheError)")
        }
    }
}
