import NIOCore
import OnesheetCore

/// Rewrites the heads of responses before they are parsed, where servers write what browsers read and the parser refuses or changes:
///
/// - Of equal fields, only the first stays: proxies add `Content-Length`, `Location` or `ETag` once more.
/// - Bytes beyond ASCII in `Location` are percent-encoded, whatever their encoding: the server gets back the bytes that it named.
/// - Equal lengths in one `Content-Length` become one (RFC 9110 §8.6).
/// - A folded value becomes one line (RFC 9112 §5.2), and a line may end without a carriage return (§2.2).
///
/// Collects a head up to its end; `ResponseSizeLimit` before it bounds that. What does not begin as HTTP passes at once.
final class OriginHeads: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The bytes of a head without an end; `nil` while a body passes.
    private var head: ByteBuffer? = ByteBuffer()
    /// The bytes of `head` in which there is no end.
    private var searched = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // The next response begins with a head.
        if head == nil { (head, searched) = (ByteBuffer(), 0) }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        guard var head else { return context.fireChannelRead(data) }
        head.writeBuffer(&bytes)
        while Self.mayBeHTTP(head), let end = Self.end(of: head, from: searched) {
            guard let whole = head.readSlice(length: end) else { break }
            searched = 0
            context.fireChannelRead(wrapInboundOut(Self.rewritten(whole)))
            guard Self.isInterim(whole) else {
                self.head = nil
                if head.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(head)) }
                return
            }
        }
        guard Self.mayBeHTTP(head) else {
            self.head = nil
            return context.fireChannelRead(wrapInboundOut(head))
        }
        // The end may begin with the last bytes.
        searched = max(0, head.readableBytes - 3)
        self.head = head
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The parser says what is missing.
        if let head, head.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(head)) }
        head = nil
        context.fireChannelInactive()
    }

    private static func mayBeHTTP(_ head: ByteBuffer) -> Bool { "HTTP/".utf8.starts(with: head.readableBytesView.prefix(5)) }

    /// Whether another head follows: the status is 1xx (RFC 9110 §15.2).
    private static func isInterim(_ head: ByteBuffer) -> Bool {
        head.readableBytesView.dropFirst("HTTP/1.1 ".utf8.count).first == UInt8(ascii: "1")
    }

    /// The number of bytes up to the end of the empty line; `nil` if there is none.
    private static func end(of head: ByteBuffer, from start: Int) -> Int? {
        let bytes = head.readableBytesView
        var index = bytes.startIndex + start
        while let newline = bytes[index...].firstIndex(of: lineFeed) {
            index = newline + 1
            let next = bytes[index...].prefix(2)
            if next.first == lineFeed { return index + 1 - bytes.startIndex }
            if next.elementsEqual([carriageReturn, lineFeed]) { return index + 2 - bytes.startIndex }
        }
        return nil
    }

    private static let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))

    private static func rewritten(_ head: ByteBuffer) -> ByteBuffer {
        let all = Array(head.readableBytesView)
        var lines = all.split(separator: lineFeed, omittingEmptySubsequences: false).dropLast()
        // Nothing is there that the second line could continue.
        guard let status = lines.popFirst(), !isBlank(lines.first?.first) else { return head }
        var output = ByteBuffer()
        output.reserveCapacity(all.count + 64)
        func write(_ line: some Sequence<UInt8>) {
            output.writeBytes(line)
            output.writeBytes([carriageReturn, lineFeed])
        }
        write(status.trimmed)
        var fields: Set<[UInt8]> = []
        while let line = lines.popFirst() {
            var value: [UInt8] = []
            let colon = line.firstIndex(of: UInt8(ascii: ":"))
            if let colon { value = Array(line[(colon + 1)...].trimmed) }
            while isBlank(lines.first?.first), let more = lines.popFirst() { value += [0x20] + more.trimmed }
            guard let colon else {
                // The end, or what the parser refuses.
                write(line.trimmed)
                continue
            }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercasedASCII()
            // As bytes: text that is not UTF-8 would lose its differences.
            guard fields.insert(name.utf8 + [UInt8(ascii: ":")] + value).inserted else { continue }
            write(line[...colon] + rewritten(value, of: name))
        }
        return output
    }

    private static func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func rewritten(_ value: [UInt8], of name: String) -> [UInt8] {
        switch name {
        case "location": return value.flatMap { $0 < 0x80 ? [$0] : Array(PercentEncoding.encode(bytes: [$0]).utf8) }
        case "content-length":
            let lengths = value.split(separator: UInt8(ascii: ",")).map(\.trimmed)
            guard let first = lengths.first, lengths.allSatisfy({ $0 == first }) else { return value }
            return Array(first)
        default: return value
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without blanks and the carriage return at both ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        var bytes = self
        func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        while isBlank(bytes.first) { bytes = bytes.dropFirst() }
        while isBlank(bytes.last) { bytes = bytes.dropLast() }
        return bytes
    }
}
