import Foundation

/// The contents of a disk tier's folder.
struct CacheFolder {
    let path: String

    init(_ path: String) { self.path = path }

    /// The files of all entries.
    func entryFiles() throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(path)/entries").sorted().map {
            URL(filePath: "\(path)/entries/\($0)")
        }
        .filter { !$0.hasDirectoryPath && $0.lastPathComponent.count == 32 }
    }

    /// The index and SQLite's files beside it.
    func indexFiles() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("index-") }.sorted()
            .map { URL(filePath: "\(path)/\($0)") }
    }

    /// Files that processes are writing, or that killed processes left.
    func temporaryFiles() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(path)/tmp").filter {
            $0.contains("/") && !$0.hasSuffix("/alive")
        }
    }
}
