internal import FoundationEssentials
internal import OnesheetCore

/// All files below a directory. Omits links, because they lead elsewhere, and names that begin with a dot.
struct DirectoryReading {
    private(set) var files: [PictureFile] = []
    /// The number of pictures in formats that the server cannot read, by extension.
    private(set) var unreadable: [String: Int] = [:]
    /// The status of each directory, by its path below the root.
    private(set) var directories: [String: FileStatus] = [:]
    private let root: String
    private let extensions: Set<String>

    /// - Parameter extensions: the extensions of pictures, in lower case without the dot.
    /// - Throws: `CocoaError` if the directory itself cannot be read. Omits unreadable items below it.
    init(root: String, extensions: Set<String>) throws {
        self.root = root
        self.extensions = extensions
        try read(try FileManager.default.contentsOfDirectory(atPath: root), in: "")
    }

    private mutating func read(_ names: [String], in directory: String) throws {
        directories[directory] = Self.status(of: directory, below: root)
        for name in names.sorted() where !name.starts(withBytesOf: ".") {
            let path = directory.isEmpty ? name : "\(directory)/\(name)"
            guard let status = Self.status(of: path, below: root) else { continue }
            switch status.kind {
            case .directory: try read(Self.names(in: path, below: root), in: path)
            case .file:
                let kind = Self.fileExtension(name)
                if extensions.contains(kind) {
                    files.append(PictureFile(path: path, status))
                } else if Self.pictures.contains(kind) {
                    unreadable[kind, default: 0] += 1
                }
            case .other: continue
            }
        }
    }

    /// The file at present; `nil` if there is none.
    static func file(at path: String, below root: String) -> PictureFile? {
        guard let status = status(of: path, below: root), status.kind == .file else { return nil }
        return PictureFile(path: path, status)
    }

    static func status(of path: String, below root: String) -> FileStatus? {
        // The folder itself may be a link; items below it may not.
        FileStatus(of: path.isEmpty ? "\(root)/." : "\(root)/\(path)")
    }

    /// The extensions of known formats.
    private static let pictures = Set(ForeignFormat.allCases.flatMap(\.extensions))

    private static func fileExtension(_ name: String) -> String {
        name.cut(atLast: ".")?.after.lowercasedASCII() ?? ""
    }

    private static func names(in directory: String, below root: String) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(directory)") } catch { return [] }
    }
}

extension PictureFile {
    fileprivate init(path: String, _ status: FileStatus) {
        self.init(
            path: path, bytes: status.bytes, modified: status.modified, number: status.number, changed: status.changed)
    }
}
