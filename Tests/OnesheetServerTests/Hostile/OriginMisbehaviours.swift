import NIOCore
import OnesheetTesting

/// Faults of origins, and the responses to requests for their pictures.
struct OriginMisbehaviours {
    struct Row {
        let name: String
        let status: Int
        let answer: @Sendable (_ target: String, _ fields: [String: String]) -> OriginAnswer
    }

    /// A picture without a fault.
    let good: ByteBuffer

    var rows: [Row] { pictures + sizes + waits + breaks + statuses + redirects + heads }

    private func row(_ name: String, _ status: Int, answer: OriginAnswer) -> Row {
        Row(name: name, status: status) { _, _ in answer }
    }

    private func bytes(_ name: String, _ status: Int, bytes: [UInt8], type: String = "image/jpeg") -> Row {
        row(name, status, answer: .answer(type: type, body: ByteBuffer(bytes: bytes)))
    }

    private func text(_ name: String, _ status: Int, text: String, type: String = "image/jpeg") -> Row {
        bytes(name, status, bytes: Array(text.utf8), type: type)
    }

    private func raw(_ name: String, _ status: Int, text: String, body: ByteBuffer? = nil) -> Row {
        var all = ByteBuffer(string: text)
        if var body { all.writeBuffer(&body) }
        return row(name, status, answer: .raw(all))
    }

    private func head(_ fields: String) -> String { "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n\(fields)\r\n\r\n" }
    private var length: String { "Content-Length: \(good.readableBytes)" }
    private var half: ByteBuffer { good.getSlice(at: 0, length: good.readableBytes / 2) ?? ByteBuffer() }

    private var pictures: [Row] {
        [
            text("a page that says that it is a picture", 422, text: "<html>not a picture</html>"),
            text("a page", 422, text: "<!doctype html>", type: "text/html"),
            text("JSON", 422, text: "{\"error\": 1}", type: "application/json"),
            text("a script in SVG", 422, text: "<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", type: "image/svg+xml"),
            text("a format that nobody here reads", 422, text: "GIF89a\u{1}\0\u{1}\0\0\0\0;", type: "image/gif"),
            row("half a picture", 422, answer: .answer(type: "image/jpeg", body: half)), bytes("nothing", 502, bytes: []),
            bytes("one byte", 422, bytes: [0xFF]),
            bytes("a beginning without a picture", 422, bytes: [0xFF, 0xD8, 0xFF]),
            bytes("a beginning with a page behind", 422, bytes: [0xFF, 0xD8, 0xFF, 0xE0] + Array("<html>".utf8)),
            bytes("more pixels than anybody has memory for", 422, bytes: Self.hugePNG, type: "image/png"),
            row("a picture of another type than said", 200, answer: .answer(type: "text/plain", body: good)),
            row(
                "a packed body that nobody asked for", 502,
                answer: .answer(type: "image/jpeg", fields: ["Content-Encoding": "gzip"], body: ByteBuffer(bytes: Self.gzipped))),
            row(
                "a body said to be packed that is not", 200,
                answer: .answer(type: "image/jpeg", fields: ["Content-Encoding": "gzip"], body: good)),
        ]
    }

    private var sizes: [Row] {
        [
            row("more than is allowed", 413, answer: .answer(type: "image/jpeg", body: ByteBuffer(repeating: 0, count: 2 << 20))),
            raw("much more, as it says", 413, text: head("Content-Length: 99999999999")),
            row("no end", 413, answer: .endless(type: "image/jpeg", bytes: 65_536)),
            row(
                "chunks without an end", 413,
                answer: .rawWithoutEnd(
                    ByteBuffer(string: head("Transfer-Encoding: chunked")),
                    ByteBuffer(string: "400\r\n" + String(repeating: "a", count: 1024) + "\r\n"))),
            row(
                "fields without an end", 502,
                answer: .rawWithoutEnd(ByteBuffer(string: "HTTP/1.1 200 OK\r\n"), ByteBuffer(string: "A: b\r\n"))),
            row(
                "a value without an end", 502,
                answer: .rawWithoutEnd(ByteBuffer(string: "HTTP/1.1 200 OK\r\nA: "), ByteBuffer(repeating: 0x61, count: 4096))),
            row(
                "a status line without an end", 502,
                answer: .rawWithoutEnd(ByteBuffer(string: "HTTP/1.1 200 "), ByteBuffer(repeating: 0x61, count: 4096))),
        ]
    }

    private var waits: [Row] {
        [
            row("silence", 502, answer: .silence),
            row("silence in the middle", 504, answer: .rawThenSilence(ByteBuffer(string: head(length)))),
            row("silence in the head", 502, answer: .rawThenSilence(ByteBuffer(string: "HTTP/1.1 200 OK\r\nA"))),
            row("a body by drips", 504, answer: .drip(ByteBuffer(string: head(length)), ByteBuffer(string: "a"))),
            row("a head by drips", 502, answer: .drip(ByteBuffer(string: "HTTP/1.1 200 OK\r\n"), ByteBuffer(string: "A: b\r\n"))),
            row("continue without an end", 502, answer: .drip(ByteBuffer(), ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"))),
        ]
    }

    private var breaks: [Row] {
        [
            row("a closed door", 502, answer: .hangUp),
            row("less than it said", 502, answer: .brokenOff(type: "image/jpeg", body: good, missing: 1)),
            raw("half a status line", 502, text: "HTTP/1.1 20"), raw("half a head", 502, text: "HTTP/1.1 200 OK\r\nContent-Ty"),
            raw("a head alone", 502, text: head(length)),
            raw("chunks without the last", 502, text: head("Transfer-Encoding: chunked") + "3\r\nabc\r\n"),
            raw("a chunk size in letters", 502, text: head("Transfer-Encoding: chunked") + "zz\r\nabc\r\n0\r\n\r\n"),
            raw("a chunk longer than it says", 502, text: head("Transfer-Encoding: chunked") + "1\r\nabc\r\n0\r\n\r\n"),
        ]
    }

    private var statuses: [Row] {
        let others = [
            (204, 502), (206, 502), (207, 502), (304, 502), (400, 502), (401, 502), (403, 502), (404, 404), (410, 404), (418, 502),
            (429, 502), (451, 502), (500, 502), (501, 502), (502, 502), (503, 502), (599, 502),
        ]
        return others.map { status, expected in
            row(
                "status \(status)", expected,
                answer: .answer(status: status, type: "image/jpeg", body: [204, 304].contains(status) ? ByteBuffer() : good))
        } + [
            row("a pause of years", 503, answer: .answer(status: 503, fields: ["Retry-After": "999999999"])),
            raw("a status of two digits", 502, text: "HTTP/1.1 99 Low\r\n\r\n"),
            raw("a status in letters", 502, text: "HTTP/1.1 abc\r\n\r\n"),
            raw("a switch that nobody asked for", 502, text: "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
        ]
    }

    private var redirects: [Row] {
        func to(_ name: String, _ status: Int, location: String) -> Row { row(name, status, answer: .redirect(to: location)) }
        return [
            Row(name: "a circle", status: 502) { target, _ in .redirect(to: target) },
            Row(name: "a chain without an end", status: 502) { target, _ in .redirect(to: target + "a") },
            to("to a cloud's secrets", 403, location: "http://169.254.169.254/latest/meta-data/"),
            to("inside", 403, location: "http://10.0.0.1/"),
            to("inside in IPv6's clothes", 403, location: "http://[::ffff:10.0.0.1]/"),
            to("to another loopback", 403, location: "http://[::1]/"),
            to("off the list", 403, location: "http://example.com/"), to("to a number", 403, location: "http://2130706433/"),
            to("to octal digits", 403, location: "http://0177.0.0.1/"),
            to("to hexadecimal digits", 403, location: "http://0x7f.0.0.1/"),
            to("to a short address", 403, location: "http://127.1/"),
            to("to an address with a dot behind", 403, location: "http://127.0.0.1./"),
            to("to a file", 502, location: "file:///etc/passwd"), to("with a user's name", 502, location: "http://a@127.0.0.1/"),
            to("to nothing", 502, location: ""), row("to nowhere", 502, answer: .answer(status: 302)),
            to("to something that is no URL", 502, location: "http://"),
        ]
    }

    private var heads: [Row] {
        [
            raw("another protocol", 502, text: "SSH-2.0-OpenSSH_9.2\r\n"), raw("no head", 502, text: "hello", body: good),
            raw("another version", 502, text: "HTTP/9.9 200 OK\r\n\(length)\r\n\r\n", body: good),
            raw("a length below nothing", 502, text: head("Content-Length: -1")),
            raw("a length in letters", 502, text: head("Content-Length: abc")),
            raw("two lengths", 502, text: head("\(length)\r\nContent-Length: 1"), body: good),
            raw("length and chunks", 502, text: head("\(length)\r\nTransfer-Encoding: chunked"), body: good),
            raw("NUL in a field", 502, text: "HTTP/1.1 200 OK\r\nA: \0\r\n\(length)\r\n\r\n", body: good),
            raw("a field without a colon", 502, text: "HTTP/1.1 200 OK\r\nA\r\n\(length)\r\n\r\n", body: good),
            raw("more than it said", 200, text: head(length), body: ByteBuffer(bytes: Array(good.readableBytesView) + [1, 2, 3])),
            row("a cookie", 200, answer: .answer(type: "image/jpeg", fields: ["Set-Cookie": "a=b"], body: good)),
            row(
                "nonsense about freshness", 200,
                answer: .answer(
                    type: "image/jpeg", fields: ["Cache-Control": "max-age=x, =, ;", "Expires": "soon", "Age": "-1", "Date": "x"],
                    body: good)),
        ]
    }

    /// A header with 100,000 × 100,000 pixels.
    private static let hugePNG: [UInt8] =
        [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 1, 0x86, 0xA0, 0, 1, 0x86, 0xA0,
            8, 2, 0, 0, 0,
        ]
        + [UInt8](repeating: 0, count: 20)

    /// The beginning of a gzip stream.
    private static let gzipped: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0xAA, count: 1000)
}
