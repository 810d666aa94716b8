extension IPAddress {
    /// Reads an address as `inet_pton` does: dotted decimal with four parts, or RFC 4291 §2.2. Nothing else is an address.
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

    /// Groups of up to four hexadecimal digits; the very last of an address may be an IPv4 address.
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
