import Foundation

/// Everything in a folder: names, kinds, permissions, sizes, times of modification, and where links lead.
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

    /// What others than the owner may do with, or the owner may not.
    static func loose(in path: String) throws -> [String] {
        try ([""] + FileManager.default.subpathsOfDirectory(atPath: path)).filter { name in
            var facts = stat()
            guard lstat("\(path)/\(name)", &facts) == 0 else { throw POSIXError(.ENOENT) }
            let isFolder = facts.st_mode & S_IFMT == S_IFDIR
            return facts.st_mode & 0o7777 != (isFolder ? 0o700 : 0o600)
        }
    }
}
