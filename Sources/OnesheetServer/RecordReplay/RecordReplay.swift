import FoundationEssentials
import OnesheetCache
import OnesheetCore

/// Whether what sources and originals get over HTTP is written down, or read from what was written down. So a plugin's author works
/// with a service's real answers, without its key and without a network.
package enum RecordReplay: Sendable, Equatable {
    case off
    /// Every answer is written into this folder, without secrets, for its owner alone to read.
    case record(folder: String)
    /// Every answer comes out of this folder, and none from the network.
    case replay(folder: String)

    /// `network`, or what takes its place.
    /// - Parameter writes: whether a folder is made for what is recorded; if not, only that it could be is made sure of.
    /// - Throws: `ConfigurationError` where the folder cannot be used.
    func transport(
        _ network: any HTTPTransport, _ redaction: Redaction, writes: Bool = true
    ) throws(ConfigurationError) -> any HTTPTransport {
        switch self {
        case .off: return network
        case .record(let folder):
            do throws(CacheError) {
                try writes ? PrivateFile.makeFolders(folder) : FolderExamination.requireWritable(folder)
            } catch {
                throw ConfigurationError(path: "--record", message: "\(error)")
            }
            return RecordingTransport(network: network, folder: folder, redaction: redaction)
        case .replay(let folder):
            guard FileManager.default.fileExists(atPath: folder) else {
                throw ConfigurationError(
                    path: "--replay", message: "there is no folder \(folder); make one with --record \(folder)")
            }
            return ReplayingTransport(folder: folder, redaction: redaction)
        }
    }
}
