import Foundation

/// The contents of a folder: names, types, permissions, sizes, modification times, and targets of links.
struct FolderSnapshot: Equatable {
    let items: [String: String]

    init(_ path: String) throws {
        var items: [String: String] = [:]
        for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: path)) {
            var facts = stat()
            guard lstat("\(path)/\(name)", &facts) == 0 else { throw POSIXError(.ENOENT) }
            items[name] = "\(facts.st_mode) \(facts.st_size) \(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec) \(facts.st_ino)"
        }
        self.items = items
    }

    /// Items with permissions for others, or without permissions for the owner.
    static func loose(in path: String) throws -> [String] {
        try ([""] + FileManager.default.subpathsOfDirectory(atPath: path)).filter { name in
            var facts = stat()
            guard lstat("\(path)/\(name)", &facts) == 0 else { throw POSIXError(.ENOENT) }
            let isFolder = facts.st_mode & S_IFMT == S_IFDIR
            return facts.st_mode & 0o7777 != (isFolder ? 0o700 : 0o600)
        }
    }
}
