import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// TLS to origins: the connection goes to an address, the handshake is with the name.
final class OriginSecurityTests: TransportTestCase {
    func testThatTheCertificateIsHeldAgainstTheName() async throws {
        // Given an origin whose certificate is for one name, and two names for its address
        let (port, trust) = try await origin(for: "DNS:films.example")
        let names = ["films.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]]
        let transport = transport(names: names, trust: trust)
        // When it is asked by both, and by its address
        let answer = try await transport.get(HTTPRequest(url: "https://films.example:\(port)/"), under: loopback)
        let other = await Self.failure(of: "https://other.example:\(port)/", loopback, transport)
        let address = await Self.failure(of: "https://127.0.0.1:\(port)/", loopback, transport)
        // Then only the one that the certificate is for is answered
        XCTAssertEqual(String(buffer: answer.body), "ok")
        XCTAssertNotNil(other)
        XCTAssertNotNil(address)
    }

    func testThatAnAddressCanHaveACertificate() async throws {
        // Given an origin whose certificate is for its address
        let (port, trust) = try await origin(for: "IP:127.0.0.1")
        let transport = transport(trust: trust)
        // When it is asked twice
        for _ in 0..<2 {
            let answer = try await transport.get(HTTPRequest(url: "https://127.0.0.1:\(port)/"), under: loopback)
            // Then it answers, over one connection
            XCTAssertEqual(String(buffer: answer.body), "ok")
        }
        XCTAssertEqual(transport.openConnections, 1)
    }

    func testThatAStrangersCertificateIsNotTrusted() async throws {
        // Given an origin that vouches for itself
        let (port, _) = try await origin(for: "DNS:films.example")
        let transport = transport(names: ["films.example": [["127.0.0.1"]]])
        // When it is asked by those who trust whom the system trusts
        let error = await Self.failure(of: "https://films.example:\(port)/", loopback, transport)
        // Then nothing is fetched
        guard case .failed = error else { return XCTFail("\(String(describing: error))") }
    }

    func testThatNoRequestIsLostToAnOriginThatClosesWhatItKept() async throws {
        // Given an origin that promises to keep a connection, and closes it
        let (port, trust) = try await origin(for: "IP:127.0.0.1", .withTheSecondRequest)
        let transport = transport(trust: trust, attempts: 1)
        for number in 0..<50 {
            // When it is asked again and again
            let answer = try await transport.get(HTTPRequest(url: "https://127.0.0.1:\(port)/\(number)"), under: loopback)
            // Then it answers each time
            XCTAssertEqual(answer.status, 200)
        }
    }

    /// An origin with a certificate of its own, and a client's trust in it.
    private func origin(for name: String, _ farewell: ClosingHandler.Farewell = .never) async throws -> (Int, TLSConfiguration) {
        let folder = FileManager.default.temporaryDirectory.path + "/onesheet-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(atPath: folder) }
        let (certificate, key) = (folder + "/certificate.pem", folder + "/key.pem")
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
                channel.eventLoop.makeCompletedFuture {
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
