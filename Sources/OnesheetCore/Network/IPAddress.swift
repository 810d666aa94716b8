/// An IPv4 or IPv6 address in network byte order.
public struct IPAddress: Sendable, Hashable {
    /// 4 or 16 bytes.
    public let bytes: [UInt8]

    /// - Precondition: 4 or 16 bytes.
    public init(bytes: [UInt8]) {
        precondition(bytes.count == 4 || bytes.count == 16, "an address has 4 or 16 bytes")
        self.bytes = bytes
    }

    /// The scope of an address (IANA's special-purpose registries, RFC 6890).
    public enum Scope: Sendable, Hashable {
        case `public`, `private`, loopback
        /// Link-local, shared (CGNAT), multicast, unspecified, documentation, benchmarking, reserved.
        case special
    }

    /// The address's scope.
    ///
    /// An IPv4-mapped address reaches the IPv4 address on the sockets of this machine and has its scope, but is never public: no
    /// name has a reason to resolve to one. The other forms with an IPv4 address end at a relay, so they are special.
    public var scope: Scope {
        if bytes.count == 4 { return Self.scope(ofIPv4: bytes) }
        guard embeddedIPv4 != nil else { return Self.scope(ofIPv6: bytes) }
        guard let mapped = mappedIPv4, mapped.scope != .public else { return .special }
        return mapped.scope
    }

    /// The IPv4 address of `::ffff:0:0/96` (RFC 4291 §2.5.5.2).
    var mappedIPv4: IPAddress? {
        guard bytes.count == 16, bytes[0..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF else { return nil }
        return IPAddress(bytes: Array(bytes[12...]))
    }

    /// The IPv4 address that this is or that an IPv6 address contains: mapped and compatible (RFC 4291 §2.5.5), NAT64 (RFC 6052),
    /// 6to4 (RFC 3056), Teredo (RFC 4380) and ISATAP (RFC 5214).
    public var embeddedIPv4: IPAddress? {
        guard bytes.count == 16 else { return self }
        func slice(_ from: Int) -> IPAddress { IPAddress(bytes: Array(bytes[from..<from + 4])) }
        let zeros = bytes[0..<10].allSatisfy { $0 == 0 }
        if zeros && bytes[10] == 0xFF && bytes[11] == 0xFF { return slice(12) }
        if zeros && bytes[10] == 0 && bytes[11] == 0 && bytes[12...].contains(where: { $0 != 0 }) && !isIPv6Loopback {
            return slice(12)
        }
        if bytes[0..<4] == [0x00, 0x64, 0xFF, 0x9B] { return slice(12) }
        if bytes[0..<2] == [0x20, 0x02] { return slice(2) }
        if bytes[0..<4] == [0x20, 0x01, 0x00, 0x00] { return IPAddress(bytes: bytes[12..<16].map { ~$0 }) }
        if bytes[8] & 0xFC == 0 && bytes[9] == 0 && bytes[10] == 0x5E && bytes[11] == 0xFE { return slice(12) }
        return nil
    }

    private var isIPv6Loopback: Bool { bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 }

    private static func scope(ofIPv4 b: [UInt8]) -> Scope {
        switch (b[0], b[1], b[2]) {
        case (127, _, _): .loopback
        case (10, _, _), (172, 16...31, _), (192, 168, _): .private
        case (0, _, _), (100, 64...127, _), (169, 254, _), (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 18...19, _),
            (198, 51, 100), (203, 0, 113), (224...255, _, _):
            .special
        default: .public
        }
    }

    private static func scope(ofIPv6 b: [UInt8]) -> Scope {
        if b.dropLast().allSatisfy({ $0 == 0 }) { return b[15] == 1 ? .loopback : .special }
        if b[0] & 0xFE == 0xFC { return .private }
        let isDocumentation = b[0..<4] == [0x20, 0x01, 0x0D, 0xB8] || (b[0] == 0x3F && b[1] == 0xFF && b[2] & 0xF0 == 0)
        let isProtocolAssignment = b[0] == 0x20 && b[1] == 0x01 && b[2] < 2
        // Global unicast is 2000::/3 (RFC 4291 §2.4). No web server has an address outside of it.
        return b[0] & 0xE0 == 0x20 && !isDocumentation && !isProtocolAssignment ? .public : .special
    }
}

extension IPAddress {
    /// Parses an address as `inet_pton` does: dotted decimal with four parts, or RFC 4291 §2.2. Rejects all other forms.
    public init?(_ text: String) {
        if text.contains(":") {
            guard let bytes = Self.ipv6(text) else { return nil }
            self.init(bytes: bytes)
        } else {
            guard let bytes = Self.ipv4(text[...]) else { return nil }
            self.init(bytes: bytes)
        }
    }

    private static func ipv4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bytes: [UInt8] = []
        for part in parts {
            guard part.allSatisfy({ $0.isASCII && $0.isNumber }), part == "0" || part.first != "0", let byte = UInt8(part) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }

    private static func ipv6(_ text: String) -> [UInt8]? {
        guard text.utf8.count <= 45 else { return nil }
        guard let gap = text.firstRange(of: "::") else {
            guard let bytes = groups(text[...]), bytes.count == 16 else { return nil }
            return bytes
        }
        guard let head = groups(text[..<gap.lowerBound], last: false), let tail = groups(text[gap.upperBound...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + Array(repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// Groups of up to four hexadecimal digits. The last part of an address may be an IPv4 address.
    private static func groups(_ text: Substring, last: Bool = true) -> [UInt8]? {
        if text.isEmpty { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if part.contains(".") {
                guard last, index == parts.count - 1, let inner = ipv4(part) else { return nil }
                bytes += inner
            } else {
                guard (1...4).contains(part.utf8.count), part.allSatisfy({ $0.isASCII && $0.isHexDigit }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
            }
        }
        return bytes
    }
}

extension IPAddress: CustomStringConvertible {
    public var description: String {
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
        return stride(from: 0, to: 16, by: 2)
            .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.joined(separator: ":")
    }
}
