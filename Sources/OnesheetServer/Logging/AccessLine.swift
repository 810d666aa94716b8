import FoundationEssentials
import NIOCore
import OnesheetCore
import OnesheetHTTP
import OnesheetTransport

/// Formats the lines of the access log.
///
/// Texts come from clients, so characters that end a line, end a text or change its appearance are escaped. Queries of originals, which
/// may hold keys, are left out.
struct AccessLine {
    let format: AccessLogConfiguration.Format
    /// Left out of all paths.
    var keys = ClientKeys()
    /// The second of the last line as text. Most lines share it with the one before.
    private var second = (number: Int.min, text: "")

    init(_ format: AccessLogConfiguration.Format) { self.format = format }

    /// Appends the line of `request`.
    /// - Parameter client: the client's address, if it is known.
    mutating func append(
        _ request: LoggedRequest, _ facts: RequestFacts?, client: IPAddress?, at time: Date, to lines: inout [UInt8]
    ) {
        switch format {
        case .combined: appendCombined(request, facts, client: client, at: time, to: &lines)
        case .json: appendJSON(request, facts, client: client, at: time, to: &lines)
        }
        lines.append(UInt8(ascii: "\n"))
    }

    /// `host ident user [time] "request" status bytes "referer" "agent"`, the combined format of Apache and nginx.
    private mutating func appendCombined(
        _ request: LoggedRequest, _ facts: RequestFacts?, client: IPAddress?, at time: Date, to lines: inout [UInt8]
    ) {
        let line = facts.map { "\($0.method) \(keys.left(outOf: Self.visible(target: $0.target))) \($0.version)" }
        lines += Array("\(client?.description ?? "-") - - [\(text(of: time)) +0000] ".utf8)
        Self.appendQuoted(line, to: &lines)
        lines += Array(" \(request.status) \(request.bytes) ".utf8)
        Self.appendQuoted(facts?.referer.map { keys.left(outOf: Self.visible(referer: $0)) }, to: &lines)
        lines.append(UInt8(ascii: " "))
        Self.appendQuoted(facts?.userAgent, to: &lines)
    }

    private mutating func appendJSON(
        _ request: LoggedRequest, _ facts: RequestFacts?, client: IPAddress?, at time: Date, to lines: inout [UInt8]
    ) {
        let milliseconds = Int((time.timeIntervalSince1970 * 1000).rounded(.down)) % 1000
        let fraction = String(1000 + max(milliseconds, 0)).dropFirst()
        lines += Array("{\"time\":\"\(text(of: time)).\(fraction)Z\"".utf8)
        let cache = request.cacheStatus.map(CacheUse.init)
        for (key, value) in [
            ("client", client?.description), ("method", facts?.method),
            ("path", facts.map { keys.left(outOf: Self.visible(target: $0.target)) }), ("protocol", facts?.version),
            ("referer", facts?.referer.map { keys.left(outOf: Self.visible(referer: $0)) }), ("userAgent", facts?.userAgent),
            ("cache", cache?.outcome), ("tier", cache?.tier), ("request", request.requestID),
            ("trace_id", facts?.traceParent.flatMap { TraceContext(parent: $0, state: nil)?.traceID }),
        ] {
            guard let value else { continue }
            lines += Array(",\"\(key)\":\"".utf8)
            Self.append(json: value, to: &lines)
            lines.append(UInt8(ascii: "\""))
        }
        let duration = Double(request.duration.nanoseconds / 1000) / 1000
        lines += Array(",\"status\":\(request.status),\"bytes\":\(request.bytes),\"milliseconds\":\(duration)}".utf8)
    }

    /// Path and query for logs: without the query of a URL in them.
    static func visible(target: String) -> String {
        guard let (path, query) = target.cut(at: "?") else { return visible(page: target) }
        let shownPath = visible(page: String(path))
        // The query of an explanation, and of the console's page for one, is an address of an image, which may be a URL in base64url.
        if path.isExactly("/explain") || hasImage(query) { return shownPath }
        if path.starts(withBytesOf: "/3/") { return withoutKeys(path, query) }
        // If the path has a URL, the query may be that URL's.
        guard shownPath.isExactly(path) else { return shownPath }
        return shown(path: target).cut(at: "?").map { withoutKeys($0.before, $0.after) } ?? shownPath
    }

    /// Path and query without the values of parameters that may be secrets of clients. Those of TMDB send their key so, although this server
    /// needs none.
    private static func withoutKeys(_ path: Substring, _ query: Substring) -> String {
        let parameters = query.pieces(at: "&").map { pair -> String in
            guard let (name, value) = pair.cut(at: "=") else { return String(pair) }
            let known: Bool
            do throws(RequestError) {
                let plain = try PercentEncoding.decode(name).lowercasedASCII()
                // Clients of Plex write theirs once more, into the URL of the image.
                let inner = try PercentEncoding.decode(value).lowercasedASCII()
                known =
                    !(plain.split { !$0.isLetter }.last ?? "").hasSuffix("key")
                    && !["session", "token"].contains { plain.firstRange(ofBytesOf: $0) != nil }
                    && !["token", "key="].contains { inner.firstRange(ofBytesOf: $0) != nil }
            } catch {
                known = false
            }
            return known ? String(pair) : "\(name)=…"
        }
        return "\(path)?\(parameters.joined(separator: "&"))"
    }

    /// The address of the page that links to a request, for logs: its path as that of a request, which may be an image of this server behind a
    /// proxy that adds to the path.
    static func visible(referer: String) -> String {
        // A URL loses its query here, and a path there.
        visible(page: referer.contains("://") ? shown(path: referer) : visible(target: referer))
    }

    /// Whether a query has the path of an image of a free transform, which may be a URL in base64url, or one with a client's key.
    private static func hasImage(_ query: Substring) -> Bool {
        do throws(RequestError) {
            let text = try PercentEncoding.decode(query)
            return image(in: text[...]) != nil || !ClientKeys.left(outOfPage: text).isExactly(text)
        } catch {
            return true
        }
    }

    /// The place of what may be an address of a free transform.
    private static func image(in text: Substring) -> String.Index? {
        var rest = text
        while let start = rest.firstIndex(ofMark: "/") {
            rest = rest[start...]
            if rest.starts(withBytesOf: "/i/") || RootAddress.imgproxy(length: nil).begins(rest) { return start }
            rest = rest.dropFirst(bytes: 1)
        }
        return nil
    }

    private static let mostImages = 8

    /// A path or URL without the query of a URL in an address of a free transform in it, wherever that begins.
    private static func visible(page: String) -> String {
        let page = ClientKeys.left(outOfPage: shown(path: page))
        var (rest, starts) = (page[...], 0)
        while let start = image(in: rest) {
            // Each is decoded to the end of the page. No page has more of them, and what follows may be a URL.
            guard starts < mostImages else { return page[..<start] + "…" }
            starts += 1
            rest = rest[start...]
            let request = shown(request: String(rest))
            if !request.isExactly(rest) { return page[..<start] + request }
            rest = rest.dropFirst(bytes: 1)
        }
        return page
    }

    /// The second of `time`: `23/Nov/2026:01:02:03`, or `2026-11-23T01:02:03` in JSON.
    private mutating func text(of time: Date) -> String {
        let number = Int(time.timeIntervalSince1970.rounded(.down))
        if number == second.number { return second.text }
        let start = Date(timeIntervalSince1970: Double(number))
        switch format {
        case .combined:
            // Mon, 23 Nov 2026 01:02:03 GMT
            let words = HTTPDate.text(start).split(separator: " ")
            second = (number, "\(words[1...3].joined(separator: "/")):\(words[4])")
        case .json: second = (number, String(start.formatted(.iso8601).dropLast()))
        }
        return second.text
    }

    /// Appends `text` in quotation marks, or a dash for none. Bytes other than printable ASCII are `\xHH`, as Apache and nginx write them.
    private static func appendQuoted(_ text: String?, to lines: inout [UInt8]) {
        lines.append(UInt8(ascii: "\""))
        for byte in (text ?? "-").utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 0x7F...: lines += Array("\\x".utf8) + hexadecimal(byte)
            default: lines.append(byte)
            }
        }
        lines.append(UInt8(ascii: "\""))
    }

    private static func hexadecimal(_ byte: UInt8) -> [UInt8] {
        [byte >> 4, byte & 15].map { $0 < 10 ? UInt8(ascii: "0") + $0 : UInt8(ascii: "A") + $0 - 10 }
    }

    /// Appends `text` with the escapes that JSON requires (RFC 8259 §7), and those of characters that change a text's appearance.
    private static func append(json text: String, to lines: inout [UInt8]) {
        let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        if isPlain { return lines.append(contentsOf: text.utf8) }
        let escaped = text.replacing(bytesOf: "\\", with: "\\\\").replacing(bytesOf: "\"", with: "\\\"").escaped { scalar in
            String(scalar).utf16.map { "\\u" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined()
        }
        lines.append(contentsOf: escaped.utf8)
    }
}

/// The parts of a `Cache-Status` field of this server (`ImageResponse`).
private struct CacheUse {
    /// `hit`, `miss` or `stale`.
    let outcome: String?
    /// The name of the tier of a hit.
    let tier: String?

    init(_ field: String) {
        let parts = field.split(separator: ";").map { $0.drop { $0 == " " } }
        let isHit = parts.contains("hit")
        outcome = isHit ? "hit" : parts.first { $0.hasPrefix("fwd=") }.map { String($0.dropFirst("fwd=".count)) }
        tier = isHit ? parts.first { $0.hasPrefix("detail=") }.map { String($0.dropFirst("detail=".count)) } : nil
    }
}
