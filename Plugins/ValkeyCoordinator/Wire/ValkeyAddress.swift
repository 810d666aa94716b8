import OnesheetCore

/// The host and the port of an engine: `10.0.0.1:6379`, `valkey.internal`, `[::1]:7000`.
public struct ValkeyAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name, or an IP address without brackets.
    public let host: String
    /// 1 to 65535.
    public let port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// - Returns: `nil` if the text is no address. Without a port it is 6379.
    public init?(_ text: String) {
        let host: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard host.contains(":") else { return nil }
        } else {
            let colon = text.firstIndex(of: ":") ?? text.endIndex
            host = text[..<colon]
            rest = text[colon...]
        }
        guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
        self.init(checking: String(host), port: rest.isEmpty ? 6379 : Int(rest.dropFirst()))
    }

    /// An address as engines write it in `CLUSTER SLOTS`, `MOVED` and `ASK`.
    init?(checking host: String, port: Int?) {
        guard let port, (1...65_535).contains(port), !host.isEmpty, host.utf8.count <= 255,
            host.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: ":"), UInt8(ascii: "%"):
                    true
                default: false
                }
            })
        else { return nil }
        self.init(host: host, port: port)
    }

    /// The name that a certificate must have; `nil` for an IP address, which is checked by itself.
    var serverName: String? { IPAddress(host) == nil ? host : nil }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension ValkeyAddress: Decodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let address = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” is not an address such as 10.0.0.1:6379 or valkey.internal")
        }
        self = address
    }
}
