#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
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

    /// The contents of a small file.
    static func contents(of path: String, limit: Int = 65_536) throws(FileFailure) -> ByteBuffer {
        try OpenFile(path, for: .reading).read(first: limit)
    }

    private static func write(_ buffer: ByteBuffer, to path: String) throws(FileFailure) {
        let file = try OpenFile(path, for: .writing)
        try file.write(buffer)
        try file.sync()
    }
}
