import Glibc
import NIOCore
import NIOEmbedded
import XCTest

@testable import OnesheetServer

/// The server at the limit of open files.
final class DescriptorTests: XCTestCase {
    func testThatConnectionsFitIntoWhatThereIs() {
        for (files, connections) in [(32_768, 16_256), (1024, 384), (256, 64), (64, 16), (1, 8)] {
            XCTAssertEqual(DescriptorLimit(files: files).connections, connections, "\(files)")
        }
        XCTAssertGreaterThan(DescriptorLimit.raised().files, 255)
    }

    func testThatAConnectionWithoutADescriptorIsAcceptedAndClosed() throws {
        // Given a server channel
        var refused = 0
        let spare = SpareDescriptor { refused += 1 }
        let (server, taken) = (EmbeddedChannel(), Taken())
        try server.pipeline.syncOperations.addHandlers([spare, taken])
        XCTAssertTrue(spare.isKept)
        // When there is no descriptor for a connection
        server.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
        XCTAssertFalse(spare.isKept)
        let first = EmbeddedChannel(loop: server.embeddedEventLoop)
        try first.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        server.pipeline.syncOperations.fireChannelRead(NIOAny(first as any Channel))
        server.embeddedEventLoop.run()
        // Then it gets the spare one and is closed, and the next one is served
        XCTAssertFalse(first.isActive)
        XCTAssertEqual(refused, 1)
        XCTAssertTrue(spare.isKept)
        server.pipeline.syncOperations.fireChannelRead(NIOAny(EmbeddedChannel(loop: server.embeddedEventLoop) as any Channel))
        XCTAssertEqual(taken.count, 1)
        XCTAssertEqual(taken.errors, 1)
    }

    /// The messages for the rest of the pipeline.
    private final class Taken: ChannelInboundHandler {
        typealias InboundIn = any Channel
        var count = 0
        var errors = 0
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { count += 1 }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { errors += 1 }
    }
}
