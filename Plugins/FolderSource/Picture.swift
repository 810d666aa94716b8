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
        let name = id.cut(atLast: "/").map { String($0.after) } ?? id
        return Title(id: id, name: name, metadata: ["files": .array(files.map { .string($0.path) })])
    }

    /// Pictures from files, in the order of their ids.
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
