internal import Foundation

/// A folder in the system's temporary directory. It is removed with its contents by `remove` or when the value is released.
public final class TemporaryDirectory: Sendable {
    /// The path of the folder.
    public let path: String

    /// Makes the folder.
    public init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("onesheet-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { remove() }

    /// The path of an item in the folder.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Removes the folder. May be called twice.
    public func remove() {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            assertionFailure("\(path) is left behind: \(error)")
        }
    }
}
