#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif
internal import OnesheetCore

/// Lists the objects below a folder in the order of their names' bytes. Reads only folders that can have wanted names.
struct FolderListing {
    private let root: String
    private let prefix: [UInt8]
    private let after: [UInt8]?
    private let limit: Int
    private let deadline: ContinuousClock.Instant
    private var items: [ObjectListing.Item] = []
    private var hasMore = false

    init(root: String, prefix: String, after: String?, limit: Int, deadline: ContinuousClock.Instant) {
        self.root = root
        self.prefix = Array(prefix.utf8)
        self.after = after.map { Array($0.utf8) }
        self.limit = max(limit, 1)
        self.deadline = deadline
    }

    mutating func read() throws(StoreError) -> ObjectListing {
        do throws(FileError) { try read(root, name: []) } catch { throw error.storeError("list") }
        return ObjectListing(items: items, hasMore: hasMore)
    }

    private mutating func read(_ folder: String, name: [UInt8]) throws(FileError) {
        guard ContinuousClock.now < deadline else { throw FileError(folder, meaning: .timedOut(operation: "list")) }
        for entry in try entries(of: folder, name: name) {
            guard !hasMore else { return }
            let path = "\(folder)/\(entry.name)"
            if entry.isFolder {
                guard isWanted(folder: entry.key) else { continue }
                try read(path, name: entry.key)
            } else if isWanted(file: entry.key) {
                var facts = stat()
                // Deleted since the folder was read, or not a file.
                guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { continue }
                guard items.count < limit else { return hasMore = true }
                items.append(
                    .init(
                        name: String(decoding: entry.key, as: UTF8.self), bytes: ObjectFile.bodyLength(ofFile: Int(facts.st_size))))
            }
        }
    }

    private struct Entry {
        /// In the folder.
        let name: String
        /// The name of the object, or what the names of all objects below begin with.
        let key: [UInt8]
        let isFolder: Bool
    }

    /// Sorted by key. A folder's key ends with `/`, which gives the order of the names below it.
    private func entries(of folder: String, name: [UInt8]) throws(FileError) -> [Entry] {
        var entries: [Entry] = []
        for item in try Directory.items(of: folder) {
            guard let part = ObjectPath.decoded(item.name), item.kind != .other else { continue }
            let isFolder = item.kind == .folder
            entries.append(Entry(name: item.name, key: name + part + (isFolder ? [UInt8(ascii: "/")] : []), isFolder: isFolder))
        }
        return entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    private func isWanted(file key: [UInt8]) -> Bool {
        key.starts(with: prefix) && after.map { $0.lexicographicallyPrecedes(key) } ?? true
    }

    private func isWanted(folder key: [UInt8]) -> Bool {
        guard key.starts(with: prefix) || prefix.starts(with: key) else { return false }
        guard let after else { return true }
        return after.starts(with: key) || after.lexicographicallyPrecedes(key)
    }
}

/// Reads a directory.
enum Directory {
    enum Kind {
        case file, folder, other
    }

    struct Item {
        let name: String
        let kind: Kind
    }

    /// The items without those that are hidden, also `.` and `..`; none if there is no directory.
    static func items(of path: String) throws(FileError) -> [Item] {
        guard let directory = opendir(path) else {
            let error = FileError(path)
            if error.isAbsence { return [] }
            throw error
        }
        defer { closedir(directory) }
        var items: [Item] = []
        while let item = readdir(directory) {
            let name = withUnsafePointer(to: &item.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            guard name.utf8.first != UInt8(ascii: ".") else { continue }
            items.append(Item(name: name, kind: kind(Int32(item.pointee.d_type), of: "\(path)/\(name)")))
        }
        return items
    }

    private static func kind(_ type: Int32, of path: String) -> Kind {
        switch type {
        case Int32(DT_REG): return .file
        case Int32(DT_DIR): return .folder
        case Int32(DT_UNKNOWN):
            var facts = stat()
            guard lstat(path, &facts) == 0 else { return .other }
            return facts.st_mode & S_IFMT == S_IFREG ? .file : facts.st_mode & S_IFMT == S_IFDIR ? .folder : .other
        default: return .other
        }
    }
}
