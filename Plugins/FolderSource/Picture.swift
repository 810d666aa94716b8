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
    /// `nil` for a file with facts.
    var kind: ImageKind? = .poster

    /// Changes whenever the file changes.
    var identity: String { "\(path)#\(number)-\(bytes)-\(changed)" }

    func isUnsettled(at now: Date) -> Bool { FileStatus.isUnsettled(changed, at: now) }
}

/// The files that share a path except for the extension.
struct Picture: Sendable, Equatable {
    var id: String
    /// The best first: of equal names the largest.
    var files: [PictureFile]

    /// The picture with its files at present; `nil` if there are none.
    func current(below root: String) -> Picture? {
        var picture = self
        picture.files = files.compactMap { known in
            var file = DirectoryReading.file(at: known.path, below: root)
            file?.kind = known.kind
            return file
        }
        return picture.files.contains { $0.kind != nil } ? picture : nil
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
