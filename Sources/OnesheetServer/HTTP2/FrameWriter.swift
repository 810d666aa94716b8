import NIOCore
import NIOHTTP2

/// Frames of a server (RFC 9113 §6), written into the bytes that follow each other on a connection.
extension ByteBuffer {
    private mutating func writeHead(_ kind: FrameKind, length: Int, flags: UInt8 = 0, on stream: HTTP2StreamID) {
        writeMultipleIntegers(
            UInt8(truncatingIfNeeded: length >> 16), UInt16(truncatingIfNeeded: length), kind.rawValue, flags,
            UInt32(truncatingIfNeeded: Int(stream)))
    }

    /// Writes the head of a frame with `length` bytes of a body.
    mutating func writeDataHead(length: Int, on stream: HTTP2StreamID, isLast: Bool) {
        writeHead(.data, length: length, flags: isLast ? FrameFlag.endsStream : 0, on: stream)
    }

    /// Writes an encoded field block, in several frames if it is long.
    mutating func writeFields(_ block: ByteBuffer, on stream: HTTP2StreamID, isLast: Bool) {
        var (rest, kind) = (block, FrameKind.headers)
        repeat {
            let part = rest.readSlice(length: min(rest.readableBytes, FrameReader.longestPayload)) ?? ByteBuffer()
            let flags: UInt8 =
                (kind == .headers && isLast ? FrameFlag.endsStream : 0) | (rest.readableBytes == 0 ? FrameFlag.endsFields : 0)
            writeHead(kind, length: part.readableBytes, flags: flags, on: stream)
            writeImmutableBuffer(part)
            kind = .continuation
        } while rest.readableBytes > 0
    }

    mutating func writeReset(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        writeHead(.reset, length: 4, on: stream)
        writeInteger(UInt32(truncatingIfNeeded: code.networkCode))
    }

    mutating func writeSettings(_ settings: [(name: UInt16, value: UInt32)]) {
        writeHead(.settings, length: 6 * settings.count, on: .rootStream)
        for (name, value) in settings { writeMultipleIntegers(name, value) }
    }

    mutating func writeSettingsAnswer() { writeHead(.settings, length: 0, flags: FrameFlag.acknowledges, on: .rootStream) }

    mutating func writePing(_ number: UInt64, isAnswer: Bool) {
        writeHead(.ping, length: 8, flags: isAnswer ? FrameFlag.acknowledges : 0, on: .rootStream)
        writeInteger(number)
    }

    /// - Parameter last: the last stream that the server answers.
    mutating func writeGoAway(last: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        writeHead(.goAway, length: 8, on: .rootStream)
        writeMultipleIntegers(UInt32(truncatingIfNeeded: Int(last)), UInt32(truncatingIfNeeded: code.networkCode))
    }

    mutating func writeWindowUpdate(_ stream: HTTP2StreamID, by increment: Int) {
        writeHead(.windowUpdate, length: 4, on: stream)
        writeInteger(UInt32(truncatingIfNeeded: increment))
    }
}
