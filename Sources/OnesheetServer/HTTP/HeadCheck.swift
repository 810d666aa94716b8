import NIOCore
import NIOHTTP1
import OnesheetCore

/// Rejects HTTP/1.1 requests that enable request smuggling: those without exactly one valid `Host` (RFC 9112 §3.2), and those with
/// a transfer coding other than `chunked` (§6.1). Rejects those with text that takes too long to compare (`isStreamSafe`). Writes
/// `Connection: close` into the last request of a connection, whatever the client wrote. Sits behind the parser, whose errors are answered
/// with 400 and a closed connection.
final class HeadCheck: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private var hasRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        if case .head(var head) = part {
            guard !hasRefused, Self.isRight(head) else {
                if !hasRefused { context.fireErrorCaught(HTTPParserError.invalidHeaderToken) }
                hasRefused = true
                return
            }
            if Self.endsConnection(head) {
                head.headers.replaceOrAdd(name: "connection", value: "close")
                part = .head(head)
            }
        }
        // Ignore all bytes after a rejected head.
        if !hasRefused { context.fireChannelRead(wrapInboundOut(part)) }
    }

    /// Whether the connection ends with the response: the client says so or is older than persistent connections (RFC 9112 §9.3), or the
    /// parser reads nothing after `head`, because another protocol may follow. No protocol is upgraded here (RFC 9110 §7.8).
    private static func endsConnection(_ head: HTTPRequestHead) -> Bool {
        !head.isKeepAlive || head.method == .CONNECT
            || head.headers.contains(name: "Upgrade")
                && head.headers[canonicalForm: "Connection"].contains { $0.lowercased() == "upgrade" }
    }

    private static func isRight(_ head: HTTPRequestHead) -> Bool {
        guard head.uri.isStreamSafe, head.headers.allSatisfy({ $0.value.isStreamSafe }) else { return false }
        let codings = head.headers["Transfer-Encoding"]
        guard codings.isEmpty || codings.count == 1 && codings[0].lowercasedASCII().isExactly("chunked") else { return false }
        let hosts = head.headers["Host"]
        if hosts.isEmpty, head.version == .http1_0 { return true }
        return hosts.count == 1 && hosts[0].utf8.allSatisfy(isHostByte)
    }

    /// Whether RFC 3986 §3.2 allows `byte` in a host or port.
    static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"):
            true
        default: "_~%!$&'()*+,;=[]".utf8.contains(byte)
        }
    }
}
