import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import OnesheetCore
import OnesheetTesting
import S3Store
import Synchronization
import XCTest

final class S3TLSTests: S3TestCase {
    func testThatAStrangersCertificateIsNotTrusted() async throws {
        // Given
        let heard = Heard()
        let port = try await server(heard)
        let store = try store("https://127.0.0.1:\(port)")

        // When
        let error = await error { () async throws(StoreError) in _ = try await store.object("a", limit: 10) }

        // Then
        guard case .unreachable(_, let reason)? = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertTrue(reason.contains("certificate"), reason)
        XCTAssertEqual(heard.bytes.withLock { $0 }, 0, "the store sent something to a stranger")
    }

    /// A server with a certificate that nobody has signed.
    private func server(_ heard: Heard) async throws -> Int {
        let folder = FileManager.default.temporaryDirectory.path + "/onesheet-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(atPath: folder) }
        let (certificate, key) = (folder + "/certificate.pem", folder + "/key.pem")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=onesheet", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0, "openssl did not make a certificate")
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(file: key, format: .pem))))
        let channel = try await ServerBootstrap(group: NIOSingletons.posixEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(heard)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        addTeardownBlock { try await channel.close() }
        return try XCTUnwrap(channel.localAddress?.port)
    }
}

/// Counts what arrives decrypted.
private final class Heard: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    let bytes = Mutex(0)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let count = unwrapInboundIn(data).readableBytes
        bytes.withLock { $0 += count }
    }
}
