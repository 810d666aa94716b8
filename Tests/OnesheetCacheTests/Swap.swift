import Foundation

/// What can become of a file or folder by a crash, a restore or a mistake.
enum Swap: CaseIterable {
    case emptied, cut, zeroed, overwritten, folder, fullFolder, linked, dangling, endless, pipe

    /// What a link leads to, which nobody may change.
    static let treasure = Data("somebody's\n".utf8)

    /// - Parameter other: a folder of somebody else's.
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

    /// Whether what is there now is a file with other bytes.
    var isFile: Bool {
        switch self {
        case .emptied, .cut, .zeroed, .overwritten: true
        case .folder, .fullFolder, .linked, .dangling, .endless, .pipe: false
        }
    }

    /// In place, so that a program that has the file open has it open still.
    private func replace(_ path: String, with data: Data) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}
