/// Addresses that connections may be made to: a scope, or a block in CIDR notation (RFC 4632).
public enum NetworkRange: Sendable, Hashable {
    /// All addresses that are globally routed.
    case `public`
    /// RFC 1918 and unique local IPv6 addresses (RFC 4193).
    case `private`
    /// This machine: 127.0.0.0/8 and ::1.
    case loopback
    case block(AddressBlock)

    /// Whether the range contains `address`.
    public func contains(_ address: IPAddress) -> Bool {
        switch self {
        case .public: address.scope == .public
        case .private: address.scope == .private
        case .loopback: address.scope == .loopback
        case .block(let block): block.contains(address)
        }
    }
}

extension NetworkRange: Decodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        switch text {
        case "public": self = .public
        case "private": self = .private
        case "loopback": self = .loopback
        default:
            guard let block = AddressBlock(text) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "“\(text)” is not public, private, loopback or a block such as 203.0.113.0/24")
            }
            self = .block(block)
        }
    }
}

/// A block of addresses that share their first bits.
public struct AddressBlock: Sendable, Hashable {
    let base: IPAddress
    let length: Int

    /// Parses `203.0.113.0/24` or `2001:db8::/32`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let base = IPAddress(String(parts[0])), let length = Int(parts[1]),
            (0...base.bytes.count * 8).contains(length)
        else { return nil }
        self.base = base
        self.length = length
    }

    /// Whether `address` has the block's prefix. An IPv4-mapped address is compared as IPv4.
    public func contains(_ address: IPAddress) -> Bool {
        let bytes = address.mappedIPv4?.bytes ?? address.bytes
        guard bytes.count == base.bytes.count else { return false }
        for bit in 0..<length where (bytes[bit / 8] ^ base.bytes[bit / 8]) & (0x80 >> UInt8(bit % 8)) != 0 { return false }
        return true
    }
}
