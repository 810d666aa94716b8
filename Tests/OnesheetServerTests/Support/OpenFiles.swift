import Foundation

/// The files that this process holds open.
enum OpenFiles {
    /// What the links of files of memory begin with.
    static let memory = "/memfd:onesheet"

    static func paths(below prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            // The one with which the folder itself is read is closed by now.
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }.filter { $0.hasPrefix(prefix) }
    }
}
