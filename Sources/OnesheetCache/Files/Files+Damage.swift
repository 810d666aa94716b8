#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import FoundationEssentials

/// Handles damaged files of the cache, and files that other users can read.
extension Files {
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
