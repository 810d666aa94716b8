/// The slot of a key in a cluster (<https://valkey.io/topics/cluster-spec/>, “Key distribution model”).
package enum HashSlot {
    package static let count = 16_384

    package static func of(_ key: String) -> Int {
        let bytes = Array(key.utf8)
        guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
            let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return Int(crc16(bytes[...])) % count }
        return Int(crc16(bytes[(open + 1)..<close])) % count
    }

    /// CRC-16/XMODEM.
    private static func crc16(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021 }
        }
    }
}
