import NIOCore
import NIOHTTP2
import XCTest

@testable import OnesheetServer

final class FrameReaderTests: XCTestCase {
    private typealias Kind = RawHTTP2.Kind

    private static let start =
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + RawHTTP2.frame(Kind.settings, flags: 0, stream: 0, payload: [])

    func testThatFramesAreTheSameHoweverTheyArrive() throws {
        // Given frames of all kinds, with padding, priorities and a block in three parts
        let bytes =
            Self.start + RawHTTP2.frame(Kind.settings, flags: 0, stream: 0, payload: [0, 4, 0, 0, 1, 0, 0, 99, 0, 0, 0, 7])
            + RawHTTP2.frame(Kind.settings, flags: 1, stream: 0, payload: [])
            + RawHTTP2.frame(Kind.headers, flags: 0x4 | 0x8 | 0x20, stream: 1, payload: [2, 0, 0, 0, 0, 9, 0x82, 0x87, 0, 0])
            + RawHTTP2.frame(Kind.data, flags: 0x8, stream: 1, payload: [3, 1, 2, 0, 0, 0])
            + RawHTTP2.frame(Kind.data, flags: 0x1, stream: 1, payload: [])
            + RawHTTP2.frame(Kind.headers, flags: 0x1, stream: 3, payload: [0x82])
            + RawHTTP2.frame(Kind.continuation, flags: 0, stream: 3, payload: [0x87])
            + RawHTTP2.frame(Kind.continuation, flags: 0x4, stream: 3, payload: [0x84])
            + RawHTTP2.frame(2, flags: 0, stream: 5, payload: [0, 0, 0, 3, 9])
            + RawHTTP2.frame(Kind.reset, flags: 0, stream: 3, payload: [0, 0, 0, 8])
            + RawHTTP2.frame(Kind.ping, flags: 0, stream: 0, payload: [0, 0, 0, 0, 0, 0, 1, 2])
            + RawHTTP2.frame(Kind.ping, flags: 1, stream: 0, payload: [0, 0, 0, 0, 0, 0, 1, 3])
            + RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: [0x80, 0, 0, 5])
            + RawHTTP2.frame(Kind.goAway, flags: 0, stream: 0, payload: [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3])
            + RawHTTP2.frame(200, flags: 255, stream: 9, payload: [1])
        let expected = [
            "settings", "settings 4=256 99=7", "ignored", "fields 1 8287", "data 1 0102 (6)", "data 1  (0) last", "ignored",
            "ignored", "fields 3 828784 last", "ignored", "reset 3 8", "ping 258", "answer 259", "window 0 5", "ignored", "ignored",
        ]
        for step in [1, 2, 7, 9, 10, bytes.count] {
            // When they arrive in pieces
            var (reader, frames) = (FrameReader(), [String]())
            for start in stride(from: 0, to: bytes.count, by: step) {
                reader.append(ByteBuffer(bytes: bytes[start..<min(start + step, bytes.count)]))
                while let frame = try reader.next() { frames.append(Self.text(frame)) }
            }
            // Then the frames are the same
            XCTAssertEqual(frames, expected, "\(step)")
        }
    }

    func testThatReadsThatEndWithinFramesKeepNothing() throws {
        // Given frames of which each read has the end of one and the beginning of the next
        var reader = FrameReader()
        reader.append(ByteBuffer(bytes: Self.start))
        while try reader.next() != nil {}
        let frame = RawHTTP2.frame(Kind.data, flags: 0, stream: 1, payload: Array(repeating: 1, count: 16_384))
        reader.append(ByteBuffer(bytes: frame.prefix(100)))
        XCTAssertNil(try reader.next())
        for _ in 0..<200 {
            // When three megabytes come so
            reader.append(ByteBuffer(bytes: frame.dropFirst(100) + frame.prefix(100)))
            while try reader.next() != nil {}
        }
        // Then the reader holds no more than a read and a frame
        XCTAssertLessThan(reader.capacity, 100_000)
    }

    func testThatASmallPartHoldsNoLargeBuffer() throws {
        var reader = FrameReader()
        let byte = RawHTTP2.frame(Kind.data, flags: 0, stream: 1, payload: [7])
        let rest = RawHTTP2.frame(99, flags: 0, stream: 0, payload: Array(repeating: 0, count: 16_000))
        reader.append(ByteBuffer(bytes: Self.start + byte + rest))
        while let frame = try reader.next() {
            guard case .data(let bytes, _, _, _) = frame else { continue }
            XCTAssertEqual(Array(bytes.readableBytesView), [7])
            XCTAssertLessThan(bytes.storageCapacity, 100)
        }
    }

    func testThatBrokenFramesEndTheConnection() {
        let block = RawHTTP2.frame(Kind.headers, flags: 0, stream: 1, payload: [0x82])
        let small = RawHTTP2.frame(Kind.continuation, flags: 0, stream: 1, payload: [0x84])
        let large = RawHTTP2.frame(Kind.continuation, flags: 0, stream: 1, payload: Array(repeating: 0x84, count: 16_384))
        let cases: [(String, [UInt8], HTTP2ErrorCode)] = [
            ("too long", [0, 0x40, 1, 0, 0, 0, 0, 0, 1], .frameSizeError),
            ("data on the root stream", RawHTTP2.frame(Kind.data, flags: 0, stream: 0, payload: [1]), .protocolError),
            (
                "data with more padding than bytes", RawHTTP2.frame(Kind.data, flags: 8, stream: 1, payload: [3, 0, 0]),
                .protocolError
            ),
            ("padded data without bytes", RawHTTP2.frame(Kind.data, flags: 8, stream: 1, payload: []), .frameSizeError),
            ("fields on the root stream", RawHTTP2.frame(Kind.headers, flags: 4, stream: 0, payload: [0x82]), .protocolError),
            ("fields that are only padding", RawHTTP2.frame(Kind.headers, flags: 12, stream: 1, payload: [1]), .protocolError),
            ("half a priority", RawHTTP2.frame(Kind.headers, flags: 0x24, stream: 1, payload: [0, 0, 0]), .frameSizeError),
            (
                "fields that depend on themselves", RawHTTP2.frame(Kind.headers, flags: 0x24, stream: 1, payload: [0, 0, 0, 1, 1]),
                .protocolError
            ),
            ("a priority of four bytes", RawHTTP2.frame(2, flags: 0, stream: 1, payload: [0, 0, 0, 0]), .frameSizeError),
            ("a priority of the connection", RawHTTP2.frame(2, flags: 0, stream: 0, payload: [0, 0, 0, 0, 0]), .protocolError),
            ("a priority of itself", RawHTTP2.frame(2, flags: 0, stream: 5, payload: [0, 0, 0, 5, 0]), .protocolError),
            ("a reset of three bytes", RawHTTP2.frame(Kind.reset, flags: 0, stream: 1, payload: [0, 0, 0]), .frameSizeError),
            ("a reset of the connection", RawHTTP2.frame(Kind.reset, flags: 0, stream: 0, payload: [0, 0, 0, 0]), .protocolError),
            ("settings of a stream", RawHTTP2.frame(Kind.settings, flags: 0, stream: 1, payload: []), .protocolError),
            (
                "five bytes of settings", RawHTTP2.frame(Kind.settings, flags: 0, stream: 0, payload: [0, 0, 0, 0, 0]),
                .frameSizeError
            ),
            (
                "33 settings",
                RawHTTP2.frame(
                    Kind.settings, flags: 0, stream: 0, payload: (0..<33).flatMap { _ in [0, 4, 0, 0, 0, 0] as [UInt8] }),
                .enhanceYourCalm
            ),
            (
                "settings in an answer", RawHTTP2.frame(Kind.settings, flags: 1, stream: 0, payload: [0, 4, 0, 0, 0, 0]),
                .frameSizeError
            ),
            ("a promise", RawHTTP2.frame(5, flags: 4, stream: 1, payload: [0, 0, 0, 2, 0x82]), .protocolError),
            ("a ping of seven bytes", RawHTTP2.frame(Kind.ping, flags: 0, stream: 0, payload: Array(1...7)), .frameSizeError),
            ("a ping of a stream", RawHTTP2.frame(Kind.ping, flags: 0, stream: 1, payload: Array(1...8)), .protocolError),
            ("a goodbye of a stream", RawHTTP2.frame(Kind.goAway, flags: 0, stream: 1, payload: Array(1...8)), .protocolError),
            ("a short goodbye", RawHTTP2.frame(Kind.goAway, flags: 0, stream: 0, payload: [0, 0, 0, 0]), .frameSizeError),
            ("no increment", RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 0, payload: [0, 0, 0, 0]), .protocolError),
            ("a short increment", RawHTTP2.frame(Kind.windowUpdate, flags: 0, stream: 1, payload: [0, 0, 1]), .frameSizeError),
            ("a continuation of nothing", small, .protocolError),
            ("another frame within a block", block + RawHTTP2.frame(Kind.data, flags: 0, stream: 1, payload: []), .protocolError),
            ("an unknown frame within a block", block + RawHTTP2.frame(99, flags: 0, stream: 1, payload: []), .protocolError),
            (
                "a continuation of another stream", block + RawHTTP2.frame(Kind.continuation, flags: 4, stream: 3, payload: []),
                .protocolError
            ),
            ("many continuations", block + (0..<8).flatMap { _ in small }, .enhanceYourCalm),
            ("long continuations", block + large + large, .enhanceYourCalm),
        ]
        for (name, bytes, code) in cases { XCTAssertEqual(Self.failure(Self.start + bytes), code, name) }
        // And so do other bytes at the beginning
        let settings = RawHTTP2.frame(Kind.settings, flags: 0, stream: 0, payload: [])
        let preface = Self.start.dropLast(settings.count)
        XCTAssertEqual(Self.failure(Array("GET / HTTP/1.1\r\n\r\n".utf8)), .protocolError)
        XCTAssertEqual(Self.failure(Array("PRI * HTTP/1".utf8)), .protocolError)
        XCTAssertEqual(Self.failure(preface + RawHTTP2.headers("/", on: 1)), .protocolError)
        XCTAssertEqual(
            Self.failure(preface + RawHTTP2.frame(Kind.settings, flags: 1, stream: 0, payload: [])), .protocolError)
    }

    /// The error of `bytes`, which is the same however they arrive.
    private static func failure(_ bytes: [UInt8]) -> HTTP2ErrorCode? {
        let codes = [1, bytes.count].map { step -> HTTP2ErrorCode? in
            var reader = FrameReader()
            do throws(ConnectionFailure) {
                for start in stride(from: 0, to: bytes.count, by: step) {
                    reader.append(ByteBuffer(bytes: bytes[start..<min(start + step, bytes.count)]))
                    while try reader.next() != nil {}
                }
            } catch {
                return error.code
            }
            return nil
        }
        XCTAssertEqual(codes[0], codes[1])
        return codes[0]
    }

    private static func text(_ frame: ClientFrame) -> String {
        func hex(_ bytes: ByteBuffer) -> String {
            bytes.readableBytesView.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        return switch frame {
        case .data(let bytes, let stream, let length, let isLast):
            "data \(Int(stream)) \(hex(bytes)) (\(length))" + (isLast ? " last" : "")
        case .fields(let block, let stream, let isLast): "fields \(Int(stream)) \(hex(block))" + (isLast ? " last" : "")
        case .reset(let stream, let code): "reset \(Int(stream)) \(code.networkCode)"
        case .settings(let settings): (["settings"] + settings.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
        case .ping(let number): "ping \(number)"
        case .pingAnswer(let number): "answer \(number)"
        case .windowUpdate(let stream, let increment): "window \(Int(stream)) \(increment)"
        case .ignored: "ignored"
        }
    }
}
