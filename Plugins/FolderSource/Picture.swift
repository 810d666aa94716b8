internal import FoundationEssentials
internal import OnesheetCore

/// One file that may be a picture.
struct PictureFile: Sendable, Equatable {
    /// Below the folder, with slashes.
    var path: String
    var bytes: Int
    var modified: Date
    var number: UInt64
    /// Nanoseconds.
    var changed: Int64

    /// Changes when the file does.
    var identity: String { "\(path)#\(number)-\(bytes)-\(changed)" }

    func isUnsettled(at now: Date) -> Bool { FileStatus.isUnsettled(changed, at: now) }
}

/// The files that share a path but for the extension.
struct Picture: Sendable, Equatable {
    var id: String
    /// The largest first.
    var files: [PictureFile]

    var title: Title {
        let name = id.split(separator: "/").last.map(String.init) ?? id
        return Title(id: id, name: name, metadata: ["files": .array(files.map { .string($0.path) })])
    }

    /// Pictures from files, in the order of their ids.
    static func grouped(_ files: [PictureFile]) -> [Picture] {
        Dictionary(grouping: files) { id(of: $0.path) }
            .map { id, files in Picture(id: id, files: files.sorted { ($0.bytes, $1.path) > ($1.bytes, $0.path) }) }
            .sorted { $0.id < $1.id }
    }

    /// The path without its extension.
    static func id(of path: String) -> String {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return path }
        return String(path[..<dot])
    }
}
