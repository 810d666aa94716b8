import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import XCTest

@testable import OnesheetServer

/// The test controls the time of the embedded loop. An embedded channel accepts all flushed data.
final class BodyWatchTests: XCTestCase {
    private let channel = EmbeddedChannel()
    private let memory = ResponseMemory(limit: 1 << 20)

    override func setUp() async throws {
        let watch = BodyWatch(memory, .init(request: .seconds(10), idle: .seconds(60)))
        try channel.pipeline.syncOperations.addHandler(watch)
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    }

    func testThatWhatIsWrittenCountsUntilItIsTaken() throws {
        let body = ByteBuffer(repeating: 1, count: 1000)
        channel.write(HTTPResponsePart.body(body), promise: nil)
        XCTAssertEqual(memory.held, body.storageCapacity)
        channel.flush()
        XCTAssertEqual(memory.held, 0)
    }

    func testThatAStreamWhoseRequestNeverEndsIsClosed() throws {
        try channel.writeInbound(HTTPRequestPart.head(.init(method: .post, scheme: "https", authority: "h", path: "/")))
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        XCTAssertTrue(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(4))
        XCTAssertFalse(channel.isActive)
    }

    func testThatAStreamWhoseRequestHasEndedMayWaitForItsAnswer() throws {
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        XCTAssertTrue(channel.isActive)
    }
}
