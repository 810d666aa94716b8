import Foundation

/// Effects of a crash, a restore or a mistake on a file or folder.
enum Swap: CaseIterable {
    case emptied, cut, zeroed, overwritten, folder, fullFolder, linked, dangling, endless, pipe

    /// The target of a link, which must stay unchanged.
    static let treasure = Data("somebody's\n".utf8)

    /// - Parameter other: a foreign folder.
    func apply(to path: String, other: String) throws {
        let file = URL(filePath: path)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
        switch self {
        case .emptied: return try replace(path, with: Data())
        case .cut: return try replace(path, with: Data(contentsOf: file).prefix(size / 2))
        case .zeroed: return try replace(path, with: Data(count: size))
        case .overwritten: return try replace(path, with: Data(repeating: 0x5A, count: size))
        case .folder, .fullFolder, .linked, .dangling, .endless, .pipe: try FileManager.default.removeItem(atPath: path)
        }
        switch self {
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .fullFolder:
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Self.treasure.write(to: file.appending(path: "letter"))
        case .linked:
            try Self.treasure.write(to: URL(filePath: "\(other)/letter"))
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(other)/letter")
        case .dangling: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(other)/nothing")
        case .endless: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        case .pipe: guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
        case .emptied, .cut, .zeroed, .overwritten: break
        }
    }

    /// Whether the item is now a file with other bytes.
    var isFile: Bool {
        switch self {
        case .emptied, .cut, .zeroed, .overwritten: true
        case .folder, .fullFolder, .linked, .dangling, .endless, .pipe: false
        }
    }

    /// In place, so that a program keeps the file open.
    private func replace(_ path: String, with data: Data) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}
