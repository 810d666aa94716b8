import OnesheetCore

/// The address that the server listens on.
package enum ListenAddress: Sendable, SettingValue, Equatable, CustomStringConvertible {
    package static let kind = "address"

    case host(String, port: Int)
    /// A Unix socket.
    case socket(path: String)

    /// The maximum length of a Unix socket's path, in bytes.
    private static let longestPath = 107

    /// Parses `127.0.0.1:8080`, `[::1]:8080` or `unix:/run/onesheet.sock`. Port 0 lets the system choose.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            guard (1...Self.longestPath).contains(path.utf8.count), !path.utf8.contains(0) else { return nil }
            self = .socket(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port)
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        // “*” is no name: resolvers take it for one machine of its own.
        guard !host.isEmpty, !host.contains("*") else { return nil }
        self = .host(String(host), port: port)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = ListenAddress(text) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "“\(text)” is not an address such as 127.0.0.1:8080 or unix:/run/onesheet/onesheet.sock")
        }
        self = address
    }

    /// Whether only this machine can connect.
    package var isLoopback: Bool {
        switch self {
        case .host(let host, _): host == "localhost" || IPAddress(host)?.scope == .loopback
        case .socket: true
        }
    }

    /// Whether only local programs are likely to use the address. A Unix socket does not count, because it usually serves a proxy.
    var servesOnlyThisMachine: Bool {
        if case .socket = self { false } else { isLoopback }
    }

    package var description: String {
        switch self {
        case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .socket(let path): "unix:\(path)"
        }
    }
}

/// The permissions of a Unix socket, as octal digits for `chmod`.
package struct SocketMode: Sendable, SettingValue, Equatable, CustomStringConvertible {
    package static let kind = "octal"

    package let bits: UInt16

    package init(bits: UInt16) { self.bits = bits }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let bits = UInt16(text, radix: 8), bits <= 0o777 else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\(text)” is not a mode such as 660")
        }
        self.bits = bits
    }

    package var description: String { String(bits, radix: 8) }
}
