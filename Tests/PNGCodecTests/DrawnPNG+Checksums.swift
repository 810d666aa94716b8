extension DrawnPNG {
    /// CRC-32 with a byte table, which is computed bit by bit (ISO/IEC 15948 Annex D).
    static func crc(_ bytes: [UInt8]) -> Int {
        var crc: UInt32 = .max
        for byte in bytes { crc = remainders[Int((crc ^ UInt32(byte)) & 255)] ^ crc >> 8 }
        return Int(~crc)
    }

    private static let remainders: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
    }

    /// A zlib stream (RFC 1950) of stored blocks (RFC 1951 §3.2.4).
    static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: max(bytes.count, 1), by: 65535) {
            let block = bytes[start..<min(bytes.count, start + 65535)]
            let (low, high) = (UInt8(block.count & 255), UInt8(block.count >> 8))
            out += [start + 65535 >= bytes.count ? 1 : 0, low, high, ~low, ~high] + block
        }
        return out + number(adler(bytes))
    }

    static func adler(_ bytes: [UInt8]) -> Int {
        var (first, second) = (1, 0)
        for byte in bytes {
            first = (first + Int(byte)) % 65521
            second = (second + first) % 65521
        }
        return second << 16 | first
    }
}
