import NIOCore
import ValkeyCoordinator
import XCTest

final class RESPParserTests: XCTestCase {
    private let example =
        "+OK\r\n-ERR no\r\n:-7\r\n$5\r\nhe\r\no\r\n$-1\r\n*-1\r\n*0\r\n*3\r\n:1\r\n*2\r\n$0\r\n\r\n+a\r\n$-1\r\n+\r\n"
    private let values: [RESPValue] = [
        .simple("OK"), .error("ERR no"), .integer(-7), .bulk(Array("he\r\no".utf8)), .null, .null, .array([]),
        .array([.integer(1), .array([.bulk([]), .simple("a")]), .null]), .simple(""),
    ]

    func testThatRepliesAreReadHoweverTheyAreCut() throws {
        for size in 1...example.utf8.count {
            // Given
            var parser = RESPParser()
            var read: [RESPValue] = []
            let bytes = Array(example.utf8)

            // When
            for start in stride(from: 0, to: bytes.count, by: size) {
                parser.append(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
                while let value = try parser.next() { read.append(value) }
            }

            // Then
            XCTAssertEqual(read, values, "in pieces of \(size) bytes")
        }
    }

    func testThatGarbageIsRefused() {
        let cases = [
            "hello\r\n", "\r\n", "+OK\n", ":12a\r\n", ":\r\n", "$-2\r\n", "$99999999999999999999\r\n", "*-2\r\n", "*500001\r\n",
            "$33554433\r\n", "$2\r\nabc\r\n", "%1\r\n", "_\r\n", String(repeating: "*1\r\n", count: 9) + ":1\r\n",
        ]
        for text in cases {
            // Given
            var parser = RESPParser()
            parser.append(ByteBuffer(string: text))

            // When
            XCTAssertThrowsError(try { while try parser.next() != nil {} }(), text) {
                // Then
                XCTAssertTrue($0 is RESPError, "\($0)")
            }
        }
    }

    func testThatAReplyIsBounded() {
        // Given
        var limits = RESPParser.Limits()
        (limits.line, limits.bytes, limits.values) = (20, 100, 10)
        let cases = [
            "+" + String(repeating: "a", count: 30),
            "*3\r\n" + String(repeating: "$40\r\n\(String(repeating: "a", count: 40))\r\n", count: 3),
            "*2\r\n*5\r\n" + String(repeating: ":1\r\n", count: 5) + "*5\r\n" + String(repeating: ":1\r\n", count: 5), "$90\r\n*",
        ]

        for text in cases.dropLast() {
            var parser = RESPParser(limits: limits)

            // When
            parser.append(ByteBuffer(string: text))

            // Then
            XCTAssertThrowsError(try parser.next(), text)
        }
        var parser = RESPParser(limits: limits)
        parser.append(ByteBuffer(string: cases[cases.count - 1]))
        XCTAssertNil(try parser.next())
    }

    func testThatTheBoundsAreOfOneReply() throws {
        // Given
        var limits = RESPParser.Limits()
        (limits.bytes, limits.values) = (50, 3)
        var parser = RESPParser(limits: limits)

        // When
        for _ in 0..<1_000 {
            parser.append(ByteBuffer(string: "*2\r\n$10\r\n0123456789\r\n:1\r\n"))

            // Then
            XCTAssertEqual(try parser.next(), .array([.bulk(Array("0123456789".utf8)), .integer(1)]))
        }
    }

    func testThatALargeReplyInSmallPiecesIsReadInLinearTime() throws {
        // Given: quadratic work over eight megabytes in pieces of 64 bytes would take hours.
        var parser = RESPParser()
        parser.append(ByteBuffer(string: "*4\r\n"))
        let piece = ByteBuffer(repeating: UInt8(ascii: "a"), count: 64)

        // When
        var read: RESPValue?
        for _ in 0..<4 {
            parser.append(ByteBuffer(string: "$\(2 << 20)\r\n"))
            for _ in 0..<((2 << 20) / 64) {
                parser.append(piece)
                XCTAssertNil(try parser.next())
            }
            parser.append(ByteBuffer(string: "\r\n"))
            read = try parser.next()
        }

        // Then
        guard case .array(let values)? = read else { return XCTFail("\(String(describing: read).prefix(100))") }
        XCTAssertEqual(values.count, 4)
    }

    func testThatACommandIsAnArrayOfItsWords() {
        // Given
        let command = ValkeyCommand("SET", "포스터", "", "a\r\nb")
        var buffer = ByteBuffer()

        // When
        command.write(to: &buffer)

        // Then
        XCTAssertEqual(String(buffer: buffer), "*4\r\n$3\r\nSET\r\n$9\r\n포스터\r\n$0\r\n\r\n$4\r\na\r\nb\r\n")
    }
}
