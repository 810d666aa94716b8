import NIOHTTP2
import XCTest

@testable import OnesheetServer

final class ClientStreamsTests: XCTestCase {
    func testThatAClientSendsNoMoreThanItsWindow() throws {
        // Given a stream
        var streams = ClientStreams()
        XCTAssertTrue(try streams.begin(1))
        streams.add(.init(hasChannel: true, clientHasEnded: false), 1)
        // When the client sends as much as it may, then that is accepted, and the connection allows more in time
        var allowed = 0
        for part in 0..<4 {
            let length = part == 3 ? 65_535 - 3 * 16_384 : 16_384
            guard case .accepted(let window) = try streams.receive(length, length: length, on: 1, isLast: false) else {
                return XCTFail("\(part)")
            }
            XCTAssertEqual(window, 65_535 - min((part + 1) * 16_384, 65_535))
            allowed += streams.allowMore() ?? 0
        }
        XCTAssertEqual(allowed, 49_152)
        // And one byte more ends the stream
        guard case .refused(.flowControlError) = try streams.receive(1, length: 1, on: 1, isLast: false) else {
            return XCTFail("accepted")
        }
        // And padding counts
        XCTAssertEqual(streams.allowMore(1, 2), 2)
        guard case .refused(.flowControlError) = try streams.receive(1, length: 3, on: 1, isLast: true) else {
            return XCTFail("accepted")
        }
    }

    func testThatABodyHasItsDeclaredLength() throws {
        for (parts, isAccepted) in [([5], true), ([2, 3], true), ([6], false), ([4], false), ([2, 4], false)] {
            var streams = ClientStreams()
            XCTAssertTrue(try streams.begin(1))
            streams.add(.init(hasChannel: true, clientHasEnded: false, contentLength: 5), 1)
            var outcomes: [Bool] = []
            for (index, part) in parts.enumerated() {
                let outcome = try streams.receive(part, length: part, on: 1, isLast: index == parts.count - 1)
                if case .accepted = outcome { outcomes.append(true) } else { outcomes.append(false) }
            }
            XCTAssertEqual(outcomes.allSatisfy { $0 }, isAccepted, "\(parts)")
        }
    }

    func testThatStreamsAreOpenedInOrderAndOnce() throws {
        var streams = ClientStreams()
        XCTAssertTrue(try streams.begin(5))
        for (stream, code) in [(5, HTTP2ErrorCode.streamClosed), (3, .protocolError), (6, .protocolError)]
            as [(HTTP2StreamID, HTTP2ErrorCode)]
        {
            XCTAssertThrowsError(try streams.begin(stream)) { XCTAssertEqual(($0 as? ConnectionFailure)?.code, code) }
        }
        // What the client has sent on a stream before it knew of its reset is ignored, and on other closed ones an error
        streams.noteReset(5)
        XCTAssertFalse(try streams.begin(5))
        guard case .ignored = try streams.receive(1, length: 1, on: 5, isLast: false) else { return XCTFail("accepted") }
        XCTAssertTrue(try streams.begin(7))
        XCTAssertThrowsError(try streams.receive(1, length: 1, on: 7, isLast: false)) {
            XCTAssertEqual(($0 as? ConnectionFailure)?.code, .streamClosed)
        }
        XCTAssertThrowsError(try streams.check(9))
    }

    func testThatAStreamEndsWithBothSides() throws {
        for clientFirst in [true, false] {
            var streams = ClientStreams()
            XCTAssertTrue(try streams.begin(1))
            streams.add(.init(hasChannel: true, clientHasEnded: false), 1)
            let first = clientFirst ? streams.endOfClient(1) : streams.endOfServer(1)
            let second = clientFirst ? streams.endOfServer(1) : streams.endOfClient(1)
            XCTAssertEqual([first, second], [false, true])
            XCTAssertNotNil(streams.remove(1))
            XCTAssertTrue(streams.isEmpty)
        }
    }
}
