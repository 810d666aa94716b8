import NIOCore
import NIOEmbedded
import XCTest

@testable import OnesheetServer

/// The test controls the time of the embedded loop.
final class SlowClientsTests: XCTestCase {
    private let channel = EmbeddedChannel()
    private var phase = ConnectionPhase.idle

    override func setUp() async throws {
        let timeouts = ClientTimeouts(idleTimeout: .seconds(60), requestTimeout: .seconds(10))
        let slow = SlowClients(timeouts) { [unowned self] in phase }
        try channel.pipeline.syncOperations.addHandler(slow)
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    }

    func testThatAConnectionWithoutRequestsIsClosedInTheEnd() throws {
        channel.embeddedEventLoop.advanceTime(by: .seconds(55))
        XCTAssertTrue(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(8))
        XCTAssertFalse(channel.isActive)
    }

    func testThatRequestsKeepAConnectionOpen() throws {
        for _ in 0..<10 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(50))
            try channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        }
        XCTAssertTrue(channel.isActive)
    }

    func testThatARequestThatComesInDropsIsNotWaitedForLong() throws {
        phase = .reading(1)
        for _ in 0..<9 {
            try channel.writeInbound(ByteBuffer(string: "G"))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        XCTAssertTrue(channel.isActive)
        try channel.writeInbound(ByteBuffer(string: "G"))
        channel.embeddedEventLoop.advanceTime(by: .seconds(4))
        XCTAssertFalse(channel.isActive)
    }

    func testThatEachRequestHasItsOwnTime() throws {
        // Each packet completes a request and begins the next one.
        for number in 1...20 {
            phase = .reading(number)
            try channel.writeInbound(ByteBuffer(string: "T / HTTP/1.1\r\n\r\nGE"))
            channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        }
        XCTAssertTrue(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(8))
        XCTAssertFalse(channel.isActive)
    }

    func testThatOurOwnTimeIsNotHeldAgainstTheClient() throws {
        try channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        phase = .answering
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        XCTAssertTrue(channel.isActive)
    }

    func testThatTheTimeOfAResponseIsNotIdleTime() throws {
        try channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        phase = .answering
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        phase = .idle
        channel.embeddedEventLoop.advanceTime(by: .seconds(50))
        XCTAssertTrue(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(15))
        XCTAssertFalse(channel.isActive)
    }

    func testThatAClientThatTakesNoneOfItsAnswerIsLeft() throws {
        // Written and not sent: an embedded channel keeps data that is not flushed.
        phase = .answering
        channel.write(ByteBuffer(string: "answer"), promise: nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(50))
        XCTAssertTrue(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(20))
        XCTAssertFalse(channel.isActive)
    }
}
