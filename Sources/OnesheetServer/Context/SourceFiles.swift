import Foundation
import OnesheetCache
import OnesheetCore
import OnesheetCrypto
import Synchronization

/// The files that the configurations of sources name, such as manifests, each with a digest of what it had when it was read.
package final class SourceFiles: Sendable {
    /// By the source's name and the file's path. An empty digest is a file that cannot be read.
    private let digests = Mutex<[String: [String: String]]>([:])
    private let firstStamps = Mutex<[String: FileStamp?]>([:])

    package init() {}

    /// The states of all files before they were read, by path.
    var stamps: [String: FileStamp?] { firstStamps.withLock { $0 } }

    /// The digests of the files of `source`, by path.
    func digests(of source: String) -> [String: String] { digests.withLock { $0[source] ?? [:] } }

    /// Called before the file is read.
    func note(_ path: String, of source: String) {
        // Of a file that several sources read, the first state counts: if it has changed since, some have read it before.
        firstStamps.withLock { if $0.index(forKey: path) == nil { $0[path] = .some(FileStamp(path)) } }
        let digest = FileManager.default.contents(atPath: path).map { SHA256.hash($0).hexadecimal } ?? ""
        digests.withLock { $0[source, default: [:]][path] = digest }
    }
}

/// The files of the newest configuration, which may have been refused: its correction has to be noticed too.
final class LatestSourceFiles: Sendable {
    private let latest = Mutex(SourceFiles())

    var files: SourceFiles { latest.withLock { $0 } }

    func replace(with files: SourceFiles) { latest.withLock { $0 = files } }
}
