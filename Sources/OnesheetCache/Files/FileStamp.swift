/// A file at one moment, with links followed: its identity, its size, and the time of its last change in nanoseconds. Differs from that
/// of another moment if the file has been replaced or written in between, also by a copy that keeps the time of its original.
package struct FileStamp: Equatable, Sendable {
    private let status: FileStatus

    /// `nil` if the file does not exist or cannot be reached, or if it is no file: the time of a pipe changes whenever it is written to.
    package init?(_ path: String) {
        do throws(FileFailure) {
            guard let status = try FileStatus(of: path, followingLink: true), status.isFile else { return nil }
            self.status = status
        } catch {
            return nil
        }
    }

    /// The states of `files` now, by path.
    package static func now<Paths: Sequence<String>>(_ files: Paths) -> [String: FileStamp?] {
        Dictionary(files.map { ($0, FileStamp($0)) }) { first, _ in first }
    }
}
