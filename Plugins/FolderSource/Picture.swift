internal import FoundationEssentials
internal import OnesheetCore

/// A file that may be a picture.
struct PictureFile: Sendable, Equatable {
    /// The path below the folder, with slashes.
    var path: String
    var bytes: Int
    var modified: Date
    var number: UInt64
    /// Nanoseconds.
    var changed: Int64

    /// Changes whenever the file changes.
    var identity: String { "\(path)#\(number)-\(bytes)-\(changed)" }

    func isUnsettled(at now: Date) -> Bool { FileStatus.isUnsettled(changed, at: now) }
}

/// The files that share a path except for the extension.
struct Picture: Sendable, Equatable {
    var id: String
    /// The largest first.
    var files: [PictureFile]

    var title: Title {
        let name = id.cut(atLast: "/").map { String($0.after) } ?? id
        return Title(id: id, name: name, metadata: ["files": .array(files.map { .string($0.path) })])
    }

    /// Pictures from files, ordered by id.
    static func grouped(_ files: [PictureFile]) -> [Picture] {
        Dictionary(grouping: files) { ExactText(id(of: $0.path)) }
            .sorted { $0.key < $1.key }
            .map { id, files in
                Picture(
                    id: id.description,
                    files: files.sorted { ($0.bytes, ExactText($1.path)) > ($1.bytes, ExactText($0.path)) })
            }
    }

    /// The path without its extension.
    static func id(of path: String) -> String {
        let name = path.cut(atLast: "/")?.after ?? path[...]
        guard let dot = name.lastIndex(ofMark: "."), dot > name.startIndex else { return path }
        return String(path[..<dot])
    }
}
