import Foundation

/// The open files of this process.
enum OpenFiles {
    /// The prefix of the links of in-memory files.
    static let memory = "/memfd:onesheet"

    static func paths(below prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            // The descriptor for reading the folder itself is already closed.
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }.filter { $0.hasPrefix(prefix) }
    }
}
