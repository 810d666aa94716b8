import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// TLS to origins: connections use the address, and handshakes the name.
final class OriginSecurityTests: TransportTestCase {
    /// The file of the certificate that was made last.
    private var certificate: String?

    func testThatTheCertificateIsHeldAgainstTheName() async throws {
        // Given an origin whose certificate has one name, and two names for its address
        let (port, trust) = try await origin(for: "DNS:films.example")
        let names = ["films.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]]
        let transport = transport(names: names, trust: trust)
        // When it is requested by both, and by its address
        let answer = try await transport.get(HTTPRequest(url: "https://films.example:\(port)/"), under: loopback)
        let other = await Self.failure(of: "https://other.example:\(port)/", loopback, transport)
        let address = await Self.failure(of: "https://127.0.0.1:\(port)/", loopback, transport)
        // Then only the name in the certificate succeeds
        XCTAssertEqual(String(buffer: answer.body), "ok")
        for (error, host) in [(other, "other.example"), (address, "127.0.0.1")] {
            XCTAssertEqual(error, .failed(url: "https://\(host):\(port)/", reason: "its certificate is for another name"))
        }
    }

    func testThatAnAddressCanHaveACertificate() async throws {
        // Given an origin whose certificate has its address
        let visitors = VisitorCount()
        let (port, trust) = try await origin(for: "IP:127.0.0.1", counting: visitors)
        let transport = transport(trust: trust)
        // When it is requested twice
        for _ in 0..<2 {
            let answer = try await transport.get(HTTPRequest(url: "https://127.0.0.1:\(port)/"), under: loopback)
            // Then it responds, over one connection
            XCTAssertEqual(String(buffer: answer.body), "ok")
        }
        XCTAssertEqual(visitors.count, 1)
    }

    func testThatAStrangersCertificateIsNotTrusted() async throws {
        // Given an origin with a self-signed certificate
        let (port, _) = try await origin(for: "DNS:films.example")
        let transport = transport(names: ["films.example": [["127.0.0.1"]]])
        // When it is requested with the system's trust roots
        let error = await Self.failure(of: "https://films.example:\(port)/", loopback, transport)
        // Then the request fails, in words of our own
        XCTAssertEqual(
            error,
            .failed(
                url: "https://films.example:\(port)/",
                reason: "its certificate has expired, or is not from an authority that this server trusts"))
    }

    func testAuthoritiesOfTheConfigurationAndTheEnvironmentAreTrusted() async throws {
        // Given an origin with a certificate of its own
        let (port, _) = try await origin(for: "IP:127.0.0.1")
        let file = try XCTUnwrap(certificate)
        for authorities in [
            try TrustedAuthorities(file: file), try TrustedAuthorities(environment: ["SSL_CERT_FILE": file]),
            try TrustedAuthorities(file: file, environment: ["SSL_CERT_FILE": ""]),
        ] {
            // When a server trusts it
            let answer = try await transport(trust: authorities.configuration).get(
                HTTPRequest(url: "https://127.0.0.1:\(port)/"), under: loopback)
            // Then it is asked
            XCTAssertEqual(answer.status, 200)
        }
        // And a file that is none of authorities is an error of the configuration
        let other = file.replacing("certificate.pem", with: "key.pem")
        for bad in [other, other + ".none"] {
            XCTAssertThrowsError(try TrustedAuthorities(file: bad)) {
                XCTAssertEqual(($0 as? ConfigurationError)?.path, "trustedAuthorities")
            }
            XCTAssertThrowsError(try TrustedAuthorities(environment: ["SSL_CERT_FILE": bad])) {
                XCTAssertEqual(($0 as? ConfigurationError)?.path, "SSL_CERT_FILE")
            }
        }
    }

    func testThatNoRequestIsLostToAnOriginThatClosesWhatItKept() async throws {
        // Given an origin that announces keep-alive and closes the connection
        let (port, trust) = try await origin(for: "IP:127.0.0.1", .withTheSecondRequest)
        let transport = transport(trust: trust, attempts: 1)
        for number in 0..<50 {
            // When it is requested again and again
            let answer = try await transport.get(HTTPRequest(url: "https://127.0.0.1:\(port)/\(number)"), under: loopback)
            // Then it responds each time
            XCTAssertEqual(answer.status, 200)
        }
    }

    /// An origin with its own certificate, and the client's trust in it.
    private func origin(for name: String, _ farewell: ClosingHandler.Farewell = .never, counting visitors: VisitorCount? = nil)
        async throws -> (Int, TLSConfiguration)
    {
        let folder = FileManager.default.temporaryDirectory.path + "/onesheet-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(atPath: folder) }
        let (certificate, key) = (folder + "/certificate.pem", folder + "/key.pem")
        self.certificate = certificate
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=onesheet", "-addext", "subjectAltName=\(name)", "-keyout", key, "-out", certificate,
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0, "openssl did not make a certificate")
        let chain = try NIOSSLCertificate.fromPEMFile(certificate)
        let server = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(NIOSSLPrivateKey(file: key, format: .pem))
            ))
        let channel = try await ServerBootstrap(group: NIOSingletons.posixEventLoopGroup)
            .childChannelInitializer { channel in
                visitors?.add(channel)
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: server))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(ClosingHandler(farewell))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        addTeardownBlock { try await channel.close() }
        var trust = TLSConfiguration.makeClientConfiguration()
        trust.trustRoots = .certificates(chain)
        return (try XCTUnwrap(channel.localAddress?.port), trust)
    }
}
