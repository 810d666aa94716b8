#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import FoundationEssentials

/// What the cache does about files of its own that are not as it wrote them, and that others can read.
extension Files {
    /// What stands between a name and the moment at which what had it was set aside.
    private static let damaged = ".damaged-"
    /// How many of each name are kept to be looked at.
    static let keptDamaged = 3

    /// Renames what has the name, so that the name is free and a person can look at it later.
    ///
    /// A link is renamed and not followed. Of what was set aside under the same name only the last ones are kept; a folder may hold what
    /// is not ours, and stays.
    /// - Parameter companions: what other files' names have after this one's; they are renamed too.
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

    /// The name that something had before it was set aside; `nil` if it was not.
    static func nameBeforeDamage(_ name: String) -> Substring? {
        name.firstRange(of: damaged).map { name[..<$0.lowerBound] }
    }

    /// Frees a name in a folder of ours: what has it goes, unless it is a folder with something in it, which is set aside.
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

    /// Makes a folder in a folder of ours; what has its name and is no folder is set aside.
    /// - Returns: where that is now.
    @discardableResult
    static func makeOwnFolder(_ path: String, now: Date) throws(FileFailure) -> String? {
        do throws(FileFailure) {
            try makeFolder(path)
            return nil
        } catch {
            // On the way to it all is well, or this throws again.
            guard error.code == ENOTDIR, try FileStatus(of: path) != nil else { throw error }
            let place = try setAside(path, now: now)
            try makeFolder(path)
            return place
        }
    }

    /// Takes the rights of others from a file or folder of this process's user.
    /// - Returns: whether others had any, or the owner too few.
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

    /// Removes what was set aside under the name of `path`, but for the last ones.
    private static func removeDamaged(_ path: String, keeping limit: Int) throws(FileFailure) {
        guard let slash = path.lastIndex(of: "/") else { return }
        let (folder, start) = (path[..<slash], path[path.index(after: slash)...] + damaged)
        var groups: [String: [String]] = [:]
        for name in try names(in: String(folder), followingLink: true) where name.hasPrefix(start) {
            let place = "\(folder)/\(name)"
            guard try FileStatus(of: place)?.isFolder == false else { continue }
            // A companion goes with the file whose name it begins with.
            let group = DatabaseFile.companions.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name
            groups[group, default: []].append(place)
        }
        for group in groups.keys.sorted().dropLast(limit) {
            for place in groups[group] ?? [] { try remove(place) }
        }
    }
}
