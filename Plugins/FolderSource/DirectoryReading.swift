internal import FoundationEssentials

/// Everything below a directory. Links are left out: they lead elsewhere. So is what begins with a dot.
struct DirectoryReading {
    static let extensions: Set<String> = ["jpg", "jpeg", "png", "webp", "avif"]

    private(set) var files: [PictureFile] = []
    private(set) var directories: [String: Date] = [:]
    private let root: String

    /// - Throws: a `CocoaError` where the directory itself cannot be read; what cannot be read below it is left out.
    init(root: String) throws {
        self.root = root
        try read(try FileManager.default.contentsOfDirectory(atPath: root), in: "")
    }

    private mutating func read(_ names: [String], in directory: String) throws {
        directories[directory] = Self.changed(directory, below: root)
        for name in names.sorted() where !name.hasPrefix(".") {
            let path = directory.isEmpty ? name : "\(directory)/\(name)"
            switch Self.attributes(of: path, below: root)?[.type] as? FileAttributeType {
            case .typeDirectory?: try read(Self.names(in: path, below: root), in: path)
            case .typeRegular? where Self.extensions.contains(Self.fileExtension(name)):
                if let file = Self.file(at: path, below: root) { files.append(file) }
            default: continue
            }
        }
    }

    /// The file as it is now; `nil` where there is none.
    static func file(at path: String, below root: String) -> PictureFile? {
        guard let attributes = attributes(of: path, below: root), attributes[.type] as? FileAttributeType == .typeRegular,
            let modified = attributes[.modificationDate] as? Date,
            let bytes = attributes[.size] as? Int ?? (attributes[.size] as? UInt64).map(Int.init)
        else { return nil }
        let number = attributes[.systemFileNumber] as? UInt64 ?? (attributes[.systemFileNumber] as? UInt).map(UInt64.init) ?? 0
        return PictureFile(path: path, bytes: bytes, modified: modified, number: number)
    }

    /// When the directory last changed; `nil` where it is gone.
    static func changed(_ directory: String, below root: String) -> Date? {
        attributes(of: directory, below: root)?[.modificationDate] as? Date
    }

    private static func fileExtension(_ name: String) -> String {
        name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    }

    private static func names(in directory: String, below root: String) -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(directory)") } catch { return [] }
    }

    private static func attributes(of path: String, below root: String) -> [FileAttributeKey: Any]? {
        // The folder itself may be a link; nothing below it.
        let whole = path.isEmpty ? "\(root)/." : "\(root)/\(path)"
        do { return try FileManager.default.attributesOfItem(atPath: whole) } catch { return nil }
    }
}
