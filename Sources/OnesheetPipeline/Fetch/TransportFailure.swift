import AsyncHTTPClient
import NIOPosix
import OnesheetCore

/// What the client library's errors mean here.
enum TransportFailure {
    static func error(_ error: any Error, at url: String) -> HTTPTransportError {
        if let error = error as? HTTPTransportError { return error }
        if let refused = error as? AddressRefused { return .forbidden(url: url, reason: refused.description) }
        if let error = error as? HTTPClientError, [.connectTimeout, .readTimeout, .deadlineExceeded].contains(error) {
            return .timedOut(url: url)
        }
        guard let error = error as? NIOConnectionError else { return .failed(url: url, reason: "\(error)") }
        if let refused = error.connectionErrors.lazy.compactMap({ $0.error as? AddressRefused }).first {
            return .forbidden(url: url, reason: refused.description)
        }
        if error.connectionErrors.isEmpty { return .failed(url: url, reason: "the host \(error.host) has no address") }
        return .failed(url: url, reason: error.connectionErrors.map { "\($0.error)" }.joined(separator: "; "))
    }
}
