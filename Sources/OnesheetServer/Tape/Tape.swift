import FoundationEssentials
import OnesheetCore

/// Whether what sources and originals get over HTTP is written down, or read from what was written down. So a plugin's author works
/// with a service's real answers, without its key and without a network.
package enum Tape: Sendable, Equatable {
    case off
    /// Every answer is written into this folder, without secrets.
    case record(folder: String)
    /// Every answer comes out of this folder, and none from the network.
    case replay(folder: String)

    /// `network`, or what takes its place.
    /// - Throws: `ConfigurationError` where the folder cannot be used.
    func transport(_ network: any HTTPTransport, _ redaction: Redaction) throws(ConfigurationError) -> any HTTPTransport {
        switch self {
        case .off: return network
        case .record(let folder):
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch {
                throw ConfigurationError(path: "--record", message: "cannot make \(folder): \(ConfigurationFile.reason(error))")
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
