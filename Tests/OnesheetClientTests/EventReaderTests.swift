import XCTest

@testable import OnesheetClient

/// Server-sent events, in the rules of WHATWG HTML §9.2.
final class EventReaderTests: XCTestCase {
    func testThatEventsAreReadHoweverTheyAreCut() throws {
        // Given events with all line ends, comments, fields without a space, and a byte order mark
        let text =
            "\u{FEFF}: hello\n\nevent: progress\ndata: 1\n\ndata:2\r\n\r\nid: 7\revent:done\rdata: a\rdata:  b\r\rdata\n\nevent: none\n\ndata: left"
        let expected = [("progress", "1"), ("message", "2"), ("done", "a\n b"), ("message", "")]
        for length in 1...text.utf8.count {
            // When they come in pieces of any length
            var reader = EventReader(limit: 1000)
            var events: [EventReader.Event] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                events += try reader.read(Array(rest.prefix(length)))
                rest = rest.dropFirst(length)
            }
            // Then they are the same
            XCTAssertEqual(events.map(\.name), expected.map(\.0), "\(length)")
            XCTAssertEqual(events.map { String(decoding: $0.data, as: UTF8.self) }, expected.map(\.1), "\(length)")
        }
    }

    func testThatTheLimitIsForEachEvent() throws {
        var reader = EventReader(limit: 20)
        for _ in 0..<100 {
            let events = try reader.read(Array("data: 0123456789\n\n".utf8))
            XCTAssertEqual(events.count, 1)
        }
        XCTAssertThrowsError(try reader.read(Array("data: 0123456789\ndata: 0123456789\n\n".utf8))) {
            XCTAssertEqual($0 as? ClientError, .tooLarge(limit: 20))
        }
    }
}
