import FoundationEssentials
import OnesheetCache
import OnesheetCore

/// Whether HTTP responses to sources are recorded, or replayed from a recording. Plugin authors can so work with a service's real
/// responses without its key or a network.
package enum RecordReplay: Sendable, Equatable {
    case off
    /// Writes every response into this folder, without secrets and readable only by its owner.
    case record(folder: String)
    /// Reads every response from this folder instead of the network.
    case replay(folder: String)

    /// The transport for this mode: `network` itself, or a transport that records or replays.
    /// - Parameter writes: whether to create the folder of a recording. If not, only its permissions are checked.
    /// - Throws: `ConfigurationError` if the folder cannot be used.
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
                    path: "--replay", message: "the folder \(folder) does not exist; create it with --record \(folder)")
            }
            return ReplayingTransport(folder: folder, redaction: redaction)
        }
    }
}
