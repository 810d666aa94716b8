#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import FoundationEssentials
internal import NIOCore

/// The cache's operations on the file system, by path.
enum Files {
    /// The mode of all folders of the cache.
    static let folderPermissions: mode_t = 0o700

    /// Makes a folder that only its owner may enter. Succeeds if it exists.
    /// - Parameter followingLink: whether a link to a folder counts as a folder.
    static func makeFolder(_ path: String, followingLink: Bool = false) throws(FileFailure) {
        guard mkdir(path, folderPermissions) != 0 else {
            // The umask may have removed permissions of the owner.
            guard chmod(path, folderPermissions) == 0 else { throw FileFailure("set the permissions of", path) }
            return
        }
        let failure = FileFailure("make the folder", path)
        guard failure.isExistence else { throw failure }
        guard try FileStatus(of: path, followingLink: followingLink)?.isFolder == true else {
            throw FileFailure("make the folder", path, code: ENOTDIR)
        }
    }

    /// Makes `path` and every folder on the way to it.
    static func makeFolders(_ path: String) throws(FileFailure) {
        do {
            try makeFolder(path, followingLink: true)
        } catch {
            guard error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw error }
            try makeFolders(String(path[..<slash]))
            try makeFolder(path, followingLink: true)
        }
    }

    /// Renames a file or folder atomically, and replaces an existing file.
    static func move(_ path: String, to other: String) throws(FileFailure) {
        guard rename(path, other) == 0 else { throw FileFailure("rename into \(other)", path) }
    }

    /// Removes a file. Succeeds if it does not exist.
    static func remove(_ path: String) throws(FileFailure) {
        guard unlink(path) != 0 else { return }
        let failure = FileFailure("remove", path)
        guard failure.isAbsence else { throw failure }
    }

    /// Removes a file, or a folder with its contents. Follows no link out of it.
    static func removeTree(_ path: String) throws(FileFailure) {
        guard unlink(path) != 0 else { return }
        let failure = FileFailure("remove", path)
        if failure.isAbsence { return }
        // Linux and POSIX use different errors for a folder.
        guard failure.code == EISDIR || failure.code == EPERM else { throw failure }
        for name in try names(in: path) { try removeTree("\(path)/\(name)") }
        try removeEmptyFolder(path)
    }

    /// Removes an empty folder. Succeeds if it does not exist.
    static func removeEmptyFolder(_ path: String) throws(FileFailure) {
        guard rmdir(path) != 0 else { return }
        let failure = FileFailure("remove the folder", path)
        guard failure.isAbsence else { throw failure }
    }

    /// The names in a folder, without `.` and `..`; none if there is no folder.
    /// - Parameter followingLink: whether a link to a folder counts as a folder.
    static func names(in path: String, followingLink: Bool = false) throws(FileFailure) -> [String] {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followingLink ? 0 : O_NOFOLLOW))
        guard descriptor >= 0, let folder = fdopendir(descriptor) else {
            let failure = FileFailure("list", path)
            if descriptor >= 0 { close(descriptor) }
            // A link that is not followed is no folder.
            if failure.isAbsence || failure.code == ELOOP { return [] }
            throw failure
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let item = readdir(folder) {
            let name = withUnsafePointer(to: &item.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The bytes that an ordinary process may still write on the disk of `path`, and the size of the disk.
    static func space(at path: String) throws(FileFailure) -> (free: Int, all: Int) {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { throw FileFailure("measure the free space of", path) }
        func bytes(_ blocks: fsblkcnt_t) -> Int { Int(clamping: UInt64(blocks) * UInt64(facts.f_frsize)) }
        return (bytes(facts.f_bavail), bytes(facts.f_blocks))
    }

    /// Writes a small file atomically.
    static func replace(_ path: String, with buffer: ByteBuffer, through temporary: String) throws(FileFailure) {
        try clear(temporary)
        try write(buffer, to: temporary)
        try move(temporary, to: path)
    }

    /// Writes a small new file atomically.
    /// - Returns: whether there was none; an existing item stays.
    static func make(_ path: String, with buffer: ByteBuffer, through temporary: String) throws(FileFailure) -> Bool {
        try clear(temporary)
        defer { _ = unlink(temporary) }
        try write(buffer, to: temporary)
        let failure = link(temporary, path) == 0 ? nil : FileFailure("make", path)
        guard let failure else { return true }
        guard failure.isExistence else { throw failure }
        return false
    }

    /// The contents of a small file.
    static func contents(of path: String, limit: Int = 65_536) throws(FileFailure) -> ByteBuffer {
        try OpenFile(path, for: .reading).read(first: limit)
    }

    private static func write(_ buffer: ByteBuffer, to path: String) throws(FileFailure) {
        let file = try OpenFile(path, for: .writing)
        try file.write(buffer)
        try file.sync()
    }

    // MARK: Damaged files, and files that other users can read

    /// The part between the name of a damaged file and the time at which it was set aside.
    private static let damaged = ".damaged-"
    /// The damaged files to keep for each name.
    static let keptDamaged = 3

    /// Renames the item at `path`, so that the name is free and a person can look at it later.
    ///
    /// A link is renamed and not followed. Only the last few items with the same name are kept. A folder stays, because it may
    /// contain foreign files.
    /// - Parameter companions: the suffixes of other files to rename too.
    /// - Returns: the new path.
    @discardableResult
    static func setAside(
        _ path: String, with companions: [String] = [], keeping limit: Int = keptDamaged, now: Date
    ) throws(FileFailure) -> String {
        let moment = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted).format(now)
        var place = path + damaged + moment
        var number = 2
        while try FileStatus(of: place) != nil, number < 100 {
            place = "\(path)\(damaged)\(moment)-\(number)"
            number += 1
        }
        for companion in companions where try FileStatus(of: path + companion) != nil {
            try move(path + companion, to: place + companion)
        }
        try move(path, to: place)
        try removeDamaged(path, keeping: limit)
        return place
    }

    /// The name that an item had before it was set aside; `nil` if it was not.
    static func nameBeforeDamage(_ name: String) -> Substring? {
        name.firstRange(of: damaged).map { name[..<$0.lowerBound] }
    }

    /// Frees a name in a folder of the cache: removes the item, or sets it aside if it is a folder that is not empty.
    static func clear(_ path: String, now: Date = .now) throws(FileFailure) {
        do throws(FileFailure) {
            try remove(path)
        } catch {
            guard try FileStatus(of: path)?.isFolder == true else { throw error }
            do throws(FileFailure) {
                try removeEmptyFolder(path)
            } catch {
                guard error.isExistence else { throw error }
                try setAside(path, now: now)
            }
        }
    }

    /// Makes a folder in a folder of the cache. An item with its name that is not a folder is set aside.
    /// - Returns: the new path of that item.
    @discardableResult
    static func makeOwnFolder(_ path: String, now: Date) throws(FileFailure) -> String? {
        do throws(FileFailure) {
            try makeFolder(path)
            return nil
        } catch {
            // The folders on the way are intact, or this throws again.
            guard error.code == ENOTDIR, try FileStatus(of: path) != nil else { throw error }
            let place = try setAside(path, now: now)
            try makeFolder(path)
            return place
        }
    }

    /// Removes the permissions of other users from a file or folder of this user.
    /// - Returns: whether others had any, or the owner had too few.
    @discardableResult
    static func tighten(_ path: String, followingLink: Bool = false) throws(FileFailure) -> Bool {
        guard let status = try FileStatus(of: path, followingLink: followingLink), status.isOwn, status.isFile || status.isFolder
        else {
            return false
        }
        let wanted = status.isFolder ? folderPermissions : OpenFile.permissions
        guard status.permissions != UInt32(wanted) else { return false }
        guard chmod(path, wanted) == 0 else { throw FileFailure("set the permissions of", path) }
        return true
    }

    /// Removes the items that were set aside under the name of `path`, except the last few.
    private static func removeDamaged(_ path: String, keeping limit: Int) throws(FileFailure) {
        guard let slash = path.lastIndex(of: "/") else { return }
        let (folder, start) = (path[..<slash], path[path.index(after: slash)...] + damaged)
        var groups: [String: [String]] = [:]
        for name in try names(in: String(folder), followingLink: true) where name.hasPrefix(start) {
            let place = "\(folder)/\(name)"
            guard try FileStatus(of: place)?.isFolder == false else { continue }
            // A companion goes with the file whose name it starts with.
            let group = DatabaseFile.companions.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name
            groups[group, default: []].append(place)
        }
        for group in groups.keys.sorted().dropLast(limit) {
            for place in groups[group] ?? [] { try remove(place) }
        }
    }
}
