import NIOCore
import NIOHPACK
import XCTest

@testable import OnesheetServer

final class SimpleRequestTests: XCTestCase {
    private let poster = "/t/p/w92/sample/1.jpg"

    func testThatThePartsAreThoseOfTheRequest() throws {
        let text =
            "HEAD \(poster) HTTP/1.1\r\nhost: h\r\nAccept: image/png, \t*/* \r\nIf-None-Match:\"a\"\r\n"
            + "IF-MODIFIED-SINCE:   Sat, 21 Nov 2026 00:00:00 GMT\r\nConnection: Keep-Alive\r\nSec-CH-UA-Platform: \"Linux\"\r\n\r\n"
        // Behind bytes that were read before, and in front of the next request
        var bytes = ByteBuffer(string: "GET " + text + "GET / HTTP/1.1\r\n")
        bytes.moveReaderIndex(forwardBy: 4)
        let request = try XCTUnwrap(SimpleRequest(bytes))
        XCTAssertTrue(request.isHead)
        XCTAssertTrue(request.isConditional)
        XCTAssertEqual(request.length, text.utf8.count)
        XCTAssertEqual(request.target, ByteBuffer(string: poster))
        XCTAssertEqual(request.accept, ByteBuffer(string: "image/png, \t*/* "))
        XCTAssertEqual(request.ifNoneMatch, ByteBuffer(string: "\"a\""))
        XCTAssertEqual(request.ifModifiedSince, ByteBuffer(string: "Sat, 21 Nov 2026 00:00:00 GMT"))
    }

    func testCloseIsTheEndOfTheConnection() {
        for (fields, isLast) in [
            ("Connection: close", true), ("connection:CLOSE", true), ("Connection: close\r\nConnection: keep-alive", true),
            ("Connection: keep-alive\r\nConnection: close", true), ("Connection: keep-alive", false),
            ("Connection: close, te", nil),
            ("Connection: te\r\nConnection: close", nil), ("Connection: close\r\nConnection: te", nil), ("Connection:", nil),
        ] {
            let request = SimpleRequest(ByteBuffer(string: "GET \(poster) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n"))
            XCTAssertEqual(request?.isLast, isLast, fields)
        }
    }

    func testThatThePartsOfADecodedHeadAreTheSame() throws {
        let head: HPACKHeaders = [
            ":method": "GET", ":scheme": "https", ":path": poster, ":authority": "h", "user-agent": "x", "accept": "image/png",
            "if-none-match": "\"a\"", "if-modified-since": "Sat, 21 Nov 2026 00:00:00 GMT",
        ]
        let request = try XCTUnwrap(SimpleRequest(head))
        XCTAssertFalse(request.isHead)
        XCTAssertEqual(request.length, 0)
        XCTAssertEqual(request.target, ByteBuffer(string: poster))
        XCTAssertEqual(request.accept, ByteBuffer(string: "image/png"))
        XCTAssertEqual(request.ifNoneMatch, ByteBuffer(string: "\"a\""))
        XCTAssertEqual(request.ifModifiedSince, ByteBuffer(string: "Sat, 21 Nov 2026 00:00:00 GMT"))
        // When a field occurs twice, or is unknown, then the request is not simple
        for (name, value) in [("accept", "*/*"), ("range", "bytes=0-9"), ("connection", "keep-alive"), ("connection", "close")] {
            var other = head
            other.add(name: name, value: value)
            XCTAssertNil(SimpleRequest(other), name)
        }
    }

    func testThatEveryByteOfATargetIsExamined() {
        for (byte, place) in bytesAndPlaces {
            let isAllowed = byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#")
            let target = Array("/".utf8) + padded(byte, at: place)
            let bytes = Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
            // A space ends the target, and what follows is no version.
            XCTAssertEqual(
                SimpleRequest(ByteBuffer(bytes: bytes))?.target, isAllowed ? ByteBuffer(bytes: target) : nil, "\(byte) at \(place)")
        }
    }

    func testThatEveryByteOfAValueIsExamined() {
        for (byte, place) in bytesAndPlaces {
            let isAllowed = byte == 0x09 || byte >= 0x20 && byte < 0x7F
            let value = Array("\"".utf8) + padded(byte, at: place)
            let bytes = Array("GET / HTTP/1.1\r\nHost: h\r\nIf-None-Match: ".utf8) + value + Array("\r\n\r\n".utf8)
            XCTAssertEqual(
                SimpleRequest(ByteBuffer(bytes: bytes))?.ifNoneMatch, isAllowed ? ByteBuffer(bytes: value) : nil,
                "\(byte) at \(place)")
        }
    }

    func testThatANameIsComparedInAnyCaseAndWhole() {
        let names = [
            "User-Agent", "Accept-Encoding", "Accept-Language", "Referer", "Cookie", "DNT", "Priority", "Pragma", "Cache-Control",
            "Sec-Fetch-Dest", "Sec-Fetch-Mode", "Sec-Fetch-Site", "Sec-Fetch-User", "Sec-CH-UA", "Sec-CH-UA-Mobile",
            "Sec-CH-UA-Platform", "Sec-GPC", "Save-Data", "Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto",
            "X-Forwarded-Host", "X-Real-IP", "X-Request-ID", "Traceparent", "Tracestate", "Accept", "If-None-Match",
            "If-Modified-Since",
        ]
        for name in names {
            for known in [name, name.lowercased(), name.uppercased()] { XCTAssertTrue(isSimple(known), known) }
            // When a byte is another one, even one that differs only in the bit that makes a letter small, or is missing
            for place in 0..<name.utf8.count {
                for byte in [Array(name.utf8)[place] ^ 0x40, Array(name.utf8)[place] ^ 0x80, 0x0D, UInt8(ascii: "_"), 0x00] {
                    var other = Array(name.utf8)
                    other[place] = byte
                    XCTAssertFalse(isSimple(other), "\(name) with \(byte) at \(place)")
                }
            }
            XCTAssertFalse(isSimple(String(name.dropLast())), name)
            XCTAssertFalse(isSimple(name + " "), name)
        }
        XCTAssertFalse(isSimple(""))
    }

    private func isSimple(_ name: String) -> Bool { isSimple(Array(name.utf8)) }

    private func isSimple(_ name: [UInt8]) -> Bool {
        let bytes = Array("GET / HTTP/1.1\r\nHost: h\r\n".utf8) + name + Array(": 1\r\n\r\n".utf8)
        return SimpleRequest(ByteBuffer(bytes: bytes)) != nil
    }

    /// Every byte, at each place of the first words that are examined together.
    private var bytesAndPlaces: [(UInt8, Int)] { (0...255).flatMap { byte in (0..<20).map { (UInt8(byte), $0) } } }

    /// Letters with `byte` at `place`.
    private func padded(_ byte: UInt8, at place: Int) -> [UInt8] {
        var bytes = Array(repeating: UInt8(ascii: "z"), count: 24)
        bytes[place] = byte
        return bytes
    }
}
