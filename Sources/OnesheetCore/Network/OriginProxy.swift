internal import FoundationEssentials

/// A proxy through which the requests of a source leave: `http://proxy.example:3128` or `socks5://127.0.0.1:1080`.
public struct OriginProxy: Sendable, Hashable, CustomStringConvertible {
    public enum Scheme: String, Sendable, Hashable {
        /// Forwards `http`, and is asked for a tunnel (`CONNECT`) for `https`.
        case http
        /// RFC 1928, without user and password.
        case socks5
    }

    public let scheme: Scheme
    /// A name, or an address without brackets.
    public let host: String
    public let port: Int
    /// The value of `Proxy-Authorization` (RFC 7617), if the URL has a user.
    package let authorization: String?

    /// Parses a URL, which needs a port and may have a user and a password, percent-encoded.
    public init?(_ text: String) {
        guard let separator = text.firstRange(ofBytesOf: "://"),
            let scheme = Scheme(rawValue: String(text[..<separator.lowerBound]))
        else { return nil }
        let rest = text[separator.upperBound...]
        let (user, place) = rest.cut(atLast: "@").map { (Optional($0.before), $0.after) } ?? (nil, rest)
        // `https` has another default port.
        guard let url = WebURL("http://\(place)"), let same = WebURL("https://\(place)"), same.port == url.port, url.path == "/",
            url.query == nil
        else { return nil }
        (self.scheme, host, port) = (scheme, url.host, url.port)
        guard let user else {
            authorization = nil
            return
        }
        guard scheme == .http, user.contains(mark: ":") else { return nil }
        do throws(RequestError) {
            authorization = "Basic \(Data(try PercentEncoding.decode(user).utf8).base64EncodedString())"
        } catch {
            return nil
        }
    }

    /// Without the user.
    public var description: String { "\(scheme.rawValue)://\(host.contains(mark: ":") ? "[\(host)]" : host):\(port)" }
}

extension OriginProxy: Decodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let proxy = OriginProxy(try container.decode(String.self)) else {
            // Not the text, which may have a password.
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription:
                    "is not http://proxy.example:3128, http://user:password@proxy.example:3128 or socks5://proxy.example:1080")
        }
        self = proxy
    }
}
