#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif
import NIOCore
import NIOHTTP1
import NIOSSL
import OnesheetCore

/// The reason for which a connection failed, in words of our own: the texts of libraries have addresses that may be known only to an internal
/// name server, and paths of the library's sources.
enum ConnectionReason {
    static func text(_ error: any Error) -> String {
        switch error {
        case let error as IOError:
            error.errnoCode == ECONNREFUSED ? "the connection was refused" : "the connection failed: \(system(error.errnoCode))"
        case let error as NIOSSLError: tls(error)
        case let error as NIOSSLExtraError:
            error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch
                ? "its certificate is for another name" : "its name cannot have a certificate"
        case is BoringSSLError: "the encrypted connection failed"
        case is HTTPParserError: "its answer is not valid HTTP"
        case let error as ChannelError where error == .eof || error == .ioOnClosedChannel || error == .alreadyClosed:
            "the connection was closed"
        default: "the connection failed"
        }
    }

    private static func system(_ code: CInt) -> String { String(cString: strerror(code)) }

    private static func tls(_ error: NIOSSLError) -> String {
        switch error {
        case .handshakeFailed(.sslError(let stack)) where "\(stack)".firstRange(ofBytesOf: "CERTIFICATE_VERIFY_FAILED") != nil:
            "its certificate has expired, or is not from an authority that this server trusts"
        case .handshakeFailed: "no encrypted connection could be agreed on"
        case .unableToValidateCertificate, .noCertificateToValidate: "its certificate is for another name"
        default: "the encrypted connection failed"
        }
    }
}
