internal import Foundation

/// A folder of one's own under the system's temporary one, gone with all that is in it when it is removed or the value is let go.
public final class TemporaryDirectory: Sendable {
    public let path: String

    /// Makes the folder.
    public init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("onesheet-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { remove() }

    /// The path of something in the folder.
    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Removes the folder. To remove it twice is no mistake.
    public func remove() {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            assertionFailure("\(path) is left behind: \(error)")
        }
    }
}
