/// Malformed requests and the expected responses.
enum MalformedRequests {
    struct Row {
        let name: String
        let bytes: [UInt8]
        /// The status of the first response; 0 if the connection closes without one.
        let status: Int
    }

    static let rows = requestLines + fields + bodies + methods + bytesOfOthers + paths + dialects

    private static func row(_ name: String, _ text: String, status: Int) -> Row {
        Row(name: name, bytes: Array(text.utf8), status: status)
    }

    /// A request line with an ordinary rest.
    private static func line(_ name: String, _ line: String, status: Int) -> Row {
        row(name, "\(line)\r\nHost: h\r\n\r\n", status: status)
    }

    /// Header lines after an ordinary request line.
    private static func field(_ name: String, _ lines: String, status: Int) -> Row {
        row(name, "GET \(poster) HTTP/1.1\r\nHost: h\r\n\(lines)\r\n\r\n", status: status)
    }

    private static func path(_ path: String, _ status: Int) -> Row { line(path, "GET \(path) HTTP/1.1", status: status) }

    static let poster = "/t/p/w92/sample/1.jpg"
    private static let long = String(repeating: "a", count: 100_000)
    /// Marks that Swift would have to sort (`isStreamSafe`).
    private static let marks = String(repeating: "\u{301}", count: 1000) + String(repeating: "\u{316}", count: 1000)

    private static let requestLines = [
        row("nothing but an empty line", "\r\n\r\n", status: 0), row("half a line", "GET /t/p", status: 400),
        row("no end", "GET / HTTP/1.1\r\nHost: h\r\n", status: 400),
        row("method only", "GET\r\n\r\n", status: 400), row("no version", "GET /\r\n\r\n", status: 400),
        line("version of the future", "GET / HTTP/9.9", status: 400),
        line("version with two digits", "GET / HTTP/1.10", status: 400),
        line("another protocol", "GET / HTTQ/1.1", status: 400), line("protocol in lower case", "GET / http/1.1", status: 400),
        line("version missing", "GET / HTTP/", status: 400), line("version in words", "GET / HTTP/one", status: 400),
        line("two spaces", "GET  / HTTP/1.1", status: 200), line("too many words", "GET / HTTP/1.1 now", status: 400),
        line("space first", " GET / HTTP/1.1", status: 400), line("tabs", "GET\t/\tHTTP/1.1", status: 400),
        line("method with a sign", "G=T / HTTP/1.1", status: 400), line("no method", " / HTTP/1.1", status: 400),
        line("endless method", "\(long) / HTTP/1.1", status: 400), line("method in lower case", "get / HTTP/1.1", status: 400),
        line("path with a control character", "GET /\u{1} HTTP/1.1", status: 400),
        line("path with NUL", "GET /\0 HTTP/1.1", status: 400),
        line("path with DEL", "GET /\u{7F} HTTP/1.1", status: 400), line("endless path", "GET /\(long) HTTP/1.1", status: 400),
        line("a star", "GET * HTTP/1.1", status: 404), line("a path without a slash", "GET t/p/w92 HTTP/1.1", status: 400),
        line("a tunnel", "CONNECT example.com:443 HTTP/1.1", status: 404),
        line("another scheme", "GET ftp://h/ HTTP/1.1", status: 200),
        line("user information", "GET http://user:password@h\(poster) HTTP/1.1", status: 200),
        row("line feeds alone", "GET / HTTP/1.1\nHost: h\n\n", status: 400),
        row("carriage returns alone", "GET / HTTP/1.1\rHost: h\r\r", status: 400),
        line("a carriage return within", "GET /\r/ HTTP/1.1", status: 400),
    ]

    private static let fields = [
        row("no host", "GET / HTTP/1.1\r\n\r\n", status: 400), field("two hosts", "Host: i", status: 400),
        row("host with a path", "GET / HTTP/1.1\r\nHost: h/x\r\n\r\n", status: 400),
        row("empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", status: 200),
        field("no colon", "nothing", status: 400), field("space before the colon", "A : b", status: 400),
        field("no name", ": b", status: 400),
        field("space in a name", "A b: c", status: 400), field("control character in a name", "A\u{1}: c", status: 400),
        field("letters from elsewhere in a name", "Ä: c", status: 400), field("NUL in a value", "A: \0", status: 400),
        field("control character in a value", "A: \u{1}", status: 400), field("DEL in a value", "A: \u{7F}", status: 400),
        field("carriage return in a value", "A: b\rc", status: 400), field("folded value", "A: b\r\n c", status: 400),
        row("fold before all", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", status: 400),
        field("endless value", "A: \(long)", status: 400),
        field("endless name", "\(long): b", status: 400),
        field("as many as there may be", (0..<99).map { "A\($0): b" }.joined(separator: "\r\n"), status: 200),
        field("one more than there may be", (0..<100).map { "A\($0): b" }.joined(separator: "\r\n"), status: 400),
        field("as much as there may be", "A: \(long.prefix(16_000))", status: 200),
        field("more than there may be", "A: \(long.prefix(16_500))", status: 400),
        field("too many", (0..<2000).map { "A\($0): b" }.joined(separator: "\r\n"), status: 400),
        field("too much together", (0..<20).map { "A\($0): \(long.prefix(9000))" }.joined(separator: "\r\n"), status: 400),
        field("marks without a letter", "Connection: \(marks)", status: 400),
        field("the same elsewhere", "A: b\(marks)", status: 400),
        field("as many marks as there may be", "A: b\(marks.unicodeScalars.prefix(30))", status: 200),
        line("marks in the path", "GET /t/p/w92\(marks)/sample/1.jpg HTTP/1.1", status: 400),
        line("the same escaped", "GET /t/p/w92/sample/\(String(repeating: "%CC%81", count: 31)).jpg HTTP/1.1", status: 400),
        field("quality beyond numbers", "Accept: image/png;q=1e999", status: 200),
        field("a thousand types", "Accept: " + Array(repeating: "a/b", count: 1000).joined(separator: ","), status: 200),
        field("range without an end", "Range: bytes=", status: 200),
        field("a thousand ranges", "Range: bytes=" + (0..<1000).map { "\($0)-\($0)" }.joined(separator: ","), status: 200),
        field("range backwards", "Range: bytes=9-1", status: 200),
        field("range beyond numbers", "Range: bytes=99999999999999999999-", status: 416),
        field("tag without quotes", "If-None-Match: x", status: 200),
        field("date that is none", "If-Modified-Since: yesterday", status: 200),
        field("date beyond years", "If-Modified-Since: Sat, 01 Jan 99999999999 00:00:00 GMT", status: 200),
        field("condition that cannot hold", "If-Match: \"x\"", status: 412),
        field("a request's name with signs", "X-Request-Id: \"<>\\", status: 200),
        field("upgrade to HTTP/2", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk", status: 200),
        field("upgrade to WebSocket", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x", status: 200),
    ]

    private static func body(_ name: String, _ fields: String, body: String, status: Int) -> Row {
        row(name, "POST /prefetch HTTP/1.1\r\nHost: h\r\n\(fields)\r\n\r\n\(body)", status: status)
    }

    private static let bodies = [
        body("length in letters", "Content-Length: abc", body: "", status: 400),
        body("length below nothing", "Content-Length: -1", body: "", status: 400),
        body("length with a sign", "Content-Length: +1", body: "x", status: 400),
        body("length twice at once", "Content-Length: 1, 2", body: "x", status: 400),
        body("two lengths", "Content-Length: 1\r\nContent-Length: 2", body: "xy", status: 400),
        body("the same length twice", "Content-Length: 1\r\nContent-Length: 1", body: "x", status: 400),
        body("length beyond numbers", "Content-Length: 99999999999999999999", body: "", status: 400),
        body("empty length", "Content-Length:", body: "", status: 400),
        body("length and chunks", "Content-Length: 3\r\nTransfer-Encoding: chunked", body: "0\r\n\r\n", status: 400),
        body("chunks and length", "Transfer-Encoding: chunked\r\nContent-Length: 3", body: "0\r\n\r\n", status: 400),
        body("unknown coding", "Transfer-Encoding: xchunked", body: "0\r\n\r\n", status: 400),
        body("unknown coding before chunks", "Transfer-Encoding: gzip, chunked", body: "0\r\n\r\n", status: 400),
        body("chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", body: "0\r\n\r\n", status: 400),
        body("chunked in quotes", "Transfer-Encoding: \"chunked\"", body: "0\r\n\r\n", status: 400),
        body("chunked with the sign of kelvin", "Transfer-Encoding: chun\u{212A}ed", body: "0\r\n\r\n", status: 400),
        body("chunked in capitals", "Transfer-Encoding: CHUNKED", body: "0\r\n\r\n", status: 401),
        body("chunked before another", "Transfer-Encoding: chunked, identity", body: "0\r\n\r\n", status: 400),
        body("chunk size in letters", "Transfer-Encoding: chunked", body: "zz\r\n", status: 401),
        body("chunk size below nothing", "Transfer-Encoding: chunked", body: "-1\r\n", status: 401),
        body("chunk size beyond numbers", "Transfer-Encoding: chunked", body: "ffffffffffffffffff\r\n", status: 401),
        body("chunk without an end", "Transfer-Encoding: chunked", body: "3\r\nabcde\r\n", status: 401),
        body("trailer without a colon", "Transfer-Encoding: chunked", body: "0\r\nnothing\r\n\r\n", status: 401),
        body("less than said", "Content-Length: 100", body: "x", status: 401),
        body("nothing of what was said", "Content-Length: 100", body: "", status: 401),
        body("no token", "Content-Length: 2", body: "{}", status: 401),
        body("a token of another kind", "Authorization: Basic eDp5\r\nContent-Length: 2", body: "{}", status: 401),
        body("an empty token", "Authorization: Bearer \r\nContent-Length: 2", body: "{}", status: 401),
        body("no JSON", "Authorization: Bearer secret-for-tests\r\nContent-Length: 4", body: "nope", status: 400),
        body("another JSON", "Authorization: Bearer secret-for-tests\r\nContent-Length: 2", body: "[]", status: 400),
        body("an empty order", "Authorization: Bearer secret-for-tests\r\nContent-Length: 0", body: "", status: 400),
        body(
            "deep JSON", "Authorization: Bearer secret-for-tests\r\nContent-Length: 20000",
            body: String(repeating: "[", count: 20_000),
            status: 400),
        body(
            "more than an order", "Authorization: Bearer secret-for-tests\r\nContent-Length: 2000000",
            body: String(repeating: " ", count: 2_000_000), status: 413),
    ]

    private static let methods = [
        line("TRACE", "TRACE \(poster) HTTP/1.1", status: 405), line("PUT", "PUT \(poster) HTTP/1.1", status: 405),
        line("PROPFIND", "PROPFIND / HTTP/1.1", status: 405),
        line("a word of one's own", "BREW /pot HTTP/1.1", status: 400),
        line("DELETE without a token", "DELETE /cache/sample HTTP/1.1", status: 401),
        row("GET with a body", "GET \(poster) HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", status: 200),
        row("good, then garbage", "GET \(poster) HTTP/1.1\r\nHost: h\r\n\r\n\u{1}\u{2}\r\n\r\n", status: 200),
        row("version 1.0 without a host", "GET \(poster) HTTP/1.0\r\n\r\n", status: 200),
    ]

    private static let bytesOfOthers = [
        Row(name: "TLS", bytes: [0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0], status: 400),
        row("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 400),
        row("PROXY protocol", "PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", status: 400),
        row("SMTP", "EHLO example.com\r\n", status: 400), row("SSH", "SSH-2.0-OpenSSH_9.2\r\n", status: 400),
        row("Redis", "*1\r\n$4\r\nPING\r\n", status: 400),
        Row(name: "NULs", bytes: [UInt8](repeating: 0, count: 1000), status: 400),
        Row(name: "all bytes", bytes: Array(0...255), status: 400),
        Row(
            name: "path in Latin-1",
            bytes: Array("GET /t/p/w92/sample/".utf8) + [0xE4] + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8), status: 400),
        Row(
            name: "value in Latin-1", bytes: Array("GET / HTTP/1.1\r\nHost: h\r\nA: ".utf8) + [0xE4] + Array("\r\n\r\n".utf8),
            status: 200),
    ]

    private static let paths = [
        path("/t/p/w92/sample/%", 400), path("/t/p/w92/sample/%zz.jpg", 400), path("/t/p/w92/sample/%00.jpg", 400),
        path("/t/p/w92/sample/%0d%0aX:1.jpg", 400), path("/t/p/w92/sample/%ff.jpg", 400),
        path("/t/p/w92/sample/..%2f..%2fetc%2fpasswd", 400),
        path("/t/p/../../etc/passwd", 400), path("//t/p/w92/sample/1.jpg", 200), path("/./t/p/w92/sample/1.jpg", 404),
        path("/t/p/w92//1.jpg", 400), path("/t/p/w92/sample/", 400), path("/t/p/W92/sample/1.jpg", 400),
        path("/t/p/w92/sample/1.jpg/", 404),
        path("/i/", 400), path("/i/unsafe/", 400), path("/i/unsafe//////", 400), path("/i/unsafe/plain/", 400),
        path("/i/unsafe/w:1/plain/%", 400),
        path("/i/unsafe/rs:fill:-1:5/plain/sample://1", 400), path("/i/unsafe/w:99999999999999999999/plain/sample://1", 400),
        path("/i/unsafe/q:101/plain/sample://1", 400), path("/i/unsafe/dpr:nan/plain/sample://1", 400),
        path("/i/unsafe/dpr:inf/plain/sample://1", 400),
        path("/i/unsafe/bl:1e308/plain/sample://1", 400), path("/i/unsafe/c:nan:1/plain/sample://1", 400),
        path("/i/unsafe/exp:99999999999999999999/plain/sample://1", 400),
        path("/i/unsafe/pd:9999999/plain/sample://1", 400), path("/i/unsafe/bg:zzz/plain/sample://1", 400),
        path("/i/unsafe/g:xx/plain/sample://1", 400),
        path("/i/unsafe/w:1:2:3/plain/sample://1", 400), path("/i/unsafe/pr:nobody/plain/sample://1", 400),
        path("/i/unsafe/rt:force/w:1/h:65535/el:1/pd:8192/plain/sample://1@png", 400), path("/i/unsafe/w:1/!!!!", 400),
        path("/i/unsafe/w:1/plain/file:///etc/passwd", 404),
        path("/i/unsafe/w:1/plain/http://169.254.169.254/", 403), path("/i/unsafe/w:1/plain/javascript:alert(1)", 400),
        path("/i/unsafe/" + String(repeating: "w:1/", count: 256) + "plain/sample://1@jpg", 200),
        path("/i/unsafe/" + String(repeating: "w:1/", count: 257) + "plain/sample://1@jpg", 400),
        path("/sources/%ff/titles", 400), path("/sources/sample/titles?page=99999999999999999999", 400),
        path("/sources/sample/titles?date=2026-02-30", 400),
        path("/sources/sample/titles?date=%00", 400),
        path("/sources/sample/titles?query=" + String(repeating: "a", count: 1001), 400), path("/sources//titles", 404),
        path("/sources/sample/nothing", 404),
        path("/cache/stats", 401),
    ]

    private static let dialects = [
        path("/thumbor/", 400), path("/thumbor//", 403), path("/thumbor/unsafe/", 400), path("/thumbor/%ff/60x90/sample://1", 403),
        path("/thumbor/unsafe/x/sample://1", 200), path("/thumbor/unsafe/-x-/%00", 400),
        path("/thumbor/unsafe/99999999999999999999x1/sample://1", 400), path("/thumbor/unsafe/--1x1/sample://1", 400),
        path("/thumbor/unsafe/0x0:99999999999999999999x1/sample://1", 400), path("/thumbor/unsafe/:/sample://1", 400),
        path("/thumbor/unsafe/filters:)/sample://1", 400), path("/thumbor/unsafe/filters:):)/sample://1", 400),
        path("/thumbor/unsafe/filters:blur(nan)/sample://1", 400), path("/thumbor/unsafe/filters:blur(1e308)/sample://1", 400),
        path("/thumbor/unsafe/filters:quality(1/q:2)/sample://1", 400),
        path("/thumbor/unsafe/" + String(repeating: "smart/", count: 1000) + "sample://1", 400),
        path("/thumbor/unsafe/60x90/file:///etc/passwd", 404), path("/thumbor/unsafe/60x90/https://", 400),
        path("/thumbor/unsafe/60x90/http://user@example.com/", 400),
        path("/cdn-cgi/image/w=1", 400), path("/cdn-cgi/image/=/sample://1", 400), path("/cdn-cgi/image/w=%zz/sample://1", 400),
        path("/cdn-cgi/image/w=%0d%0a/sample://1", 400), path("/cdn-cgi/image/,,,/sample://1", 400),
        path("/cdn-cgi/image/w=1:2:3/sample://1", 400), path("/cdn-cgi/image/dpr=inf/sample://1", 400),
        path("/cdn-cgi/image/gravity=nanxnan/sample://1", 400), path("/cdn-cgi/image/background=rgb()/sample://1", 200),
        path("/cdn-cgi/image/w=60/", 400), path("/cdn-cgi/image/w=60/..%2f..%2fetc%2fpasswd", 400),
        path("/iiif/3/", 404), path("/iiif/3//info.json", 404), path("/iiif/3/%ff/info.json", 404),
        path("/iiif/3/%0d%0aX:1", 404), path("/iiif/3/..%2f..%2fetc%2fpasswd/info.json", 404),
        path("/iiif/3/sample:%2F%2Fnobody/info.json", 404), path("/iiif/3/sample:%2F%2F1/info.json/", 400),
        path("/iiif/3/sample:%2F%2F1/,,,/max/0/default.jpg", 400), path("/iiif/3/sample:%2F%2F1/1,1,1/max/0/default.jpg", 400),
        path("/iiif/3/sample:%2F%2F1/-1,0,9,9/max/0/default.jpg", 400),
        path("/iiif/3/sample:%2F%2F1/0,0,99999999999999999999,9/max/0/default.jpg", 400),
        path("/iiif/3/sample:%2F%2F1/65535,65535,65535,65535/max/0/default.jpg", 400),
        path("/iiif/3/sample:%2F%2F1/full/,/0/default.jpg", 400), path("/iiif/3/sample:%2F%2F1/full/!9,/0/default.jpg", 400),
        path("/iiif/3/sample:%2F%2F1/full/%00/0/default.jpg", 400), path("/iiif/3/sample:%2F%2F1/full/max/0/default", 400),
        path("/iiif/3/sample:%2F%2F1/full/max/0/default.jpg.png", 400),
        path("/iiif/3/sample:%2F%2F1/full/max/nan/default.jpg", 400),
        path("/_next/image?", 400), path("/_next/image?url", 400), path("/_next/image?url=&w=&q=", 400),
        path("/_next/image?url=sample://1&w=-96&q=75", 400), path("/_next/image?url=sample://1&w=96&q=75:1", 400),
        path("/_next/image?url=%ff&w=96&q=75", 400), path("/_next/image?url=file:///etc/passwd&w=96&q=75", 404),
        path("/_next/image?" + String(repeating: "w=96&", count: 1000), 400),
    ]
}
