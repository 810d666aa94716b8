#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import NIOCore

/// What the cache asks of the file system by path.
enum Files {
    static func makeFolder(_ path: String) throws(FileFailure) {
        guard mkdir(path, 0o755) != 0 else { return }
        let failure = FileFailure("make the folder", path)
        guard failure.isExistence else { throw failure }
    }

    /// Makes `path` and every folder on the way to it.
    static func makeFolders(_ path: String) throws(FileFailure) {
        do {
            try makeFolder(path)
        } catch {
            guard error.isAbsence, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw error }
            try makeFolders(String(path[..<slash]))
            try makeFolder(path)
        }
    }

    /// Renames a file or folder, replacing the file that is there, in one step.
    static func move(_ path: String, to other: String) throws(FileFailure) {
        guard rename(path, other) == 0 else { throw FileFailure("rename into \(other)", path) }
    }

    /// Removes a file. That it is not there any more is as good.
    static func remove(_ path: String) throws(FileFailure) {
        guard unlink(path) != 0 else { return }
        let failure = FileFailure("remove", path)
        guard failure.isAbsence else { throw failure }
    }

    /// Removes a folder and what is in it, following no link out of it.
    static func removeTree(_ path: String) throws(FileFailure) {
        for name in try names(in: path) {
            let inner = "\(path)/\(name)"
            guard unlink(inner) != 0 else { continue }
            let failure = FileFailure("remove", inner)
            if failure.isAbsence { continue }
            guard failure.code == EISDIR || failure.code == EPERM else { throw failure }
            try removeTree(inner)
        }
        guard rmdir(path) != 0 else { return }
        let failure = FileFailure("remove the folder", path)
        guard failure.isAbsence else { throw failure }
    }

    /// The names in a folder, without `.` and `..`; none where there is no folder.
    static func names(in path: String) throws(FileFailure) -> [String] {
        guard let folder = opendir(path) else {
            let failure = FileFailure("list", path)
            if failure.isAbsence { return [] }
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

    /// Bytes that an ordinary process may still write where `path` is, and bytes that there are.
    static func space(at path: String) throws(FileFailure) -> (free: Int, all: Int) {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { throw FileFailure("measure the free space of", path) }
        func bytes(_ blocks: fsblkcnt_t) -> Int { Int(clamping: UInt64(blocks) * UInt64(facts.f_frsize)) }
        return (bytes(facts.f_bavail), bytes(facts.f_blocks))
    }

    /// Writes a small file whole or not at all.
    static func replace(_ path: String, with buffer: ByteBuffer, through temporary: String) throws(FileFailure) {
        try remove(temporary)
        try write(buffer, to: temporary)
        try move(temporary, to: path)
    }

    /// The whole of a small file.
    static func contents(of path: String, limit: Int = 65_536) throws(FileFailure) -> ByteBuffer {
        try OpenFile(path, for: .reading).read(first: limit)
    }

    private static func write(_ buffer: ByteBuffer, to path: String) throws(FileFailure) {
        let file = try OpenFile(path, for: .writing)
        try file.write(buffer)
        try file.sync()
    }
}
