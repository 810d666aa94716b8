internal import CPNG
internal import NIOCore

/// Writes a PNG file chunk by chunk (W3C, third edition, §5.3).
struct PNGChunks {
    private(set) var file: ByteBuffer

    /// - Parameter capacity: the expected bytes.
    init(capacity: Int) {
        file = ByteBuffer()
        file.reserveCapacity(capacity)
        file.writeBytes([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    }

    mutating func add(_ name: String, _ bytes: some Sequence<UInt8>) {
        let start = file.writerIndex
        file.writeInteger(UInt32(0))
        file.writeString(name)
        let size = file.writeBytes(bytes)
        file.setInteger(UInt32(size), at: start)
        let crc = file.withUnsafeReadableBytes { whole in
            let named = UnsafeRawBufferPointer(rebasing: whole[(start + 4)...]).assumingMemoryBound(to: UInt8.self)
            return cpng_crc(0, named.baseAddress, named.count)
        }
        file.writeInteger(crc)
    }
}
