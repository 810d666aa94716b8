internal import CPNG
internal import OnesheetCore

/// The container of a PNG file: signature and chunks (W3C, third edition, §5). libpng reads the contents of all chunks except eXIf.
struct PNGFile {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private let bytes: UnsafeBufferPointer<UInt8>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var hasSignature: Bool { bytes.starts(with: Self.signature) }

    /// Checks width and height in IHDR before any allocation.
    func checkSize(atMost limit: Int) throws(CodecError) {
        guard hasSignature else {
            throw Self.signature.starts(with: bytes) ? .truncated : .damaged(reason: "not a PNG file")
        }
        guard bytes.count >= 24 else { throw .truncated }
        let (width, height) = (number(at: 16), number(at: 20))
        // §7.1: four-byte integers go up to 2³¹ − 1. Their product fits an Int.
        guard max(width, height) <= Int32.max else { throw .damaged(reason: "sides of more than 2³¹ − 1 pixels") }
        guard width * height <= limit else { throw .tooManyPixels(width: width, height: height, limit: limit) }
    }

    /// The first eXIf chunk, which may come after the rows, with at most `ImageHeader.largestEXIF` bytes.
    /// - Throws: `CodecError.damaged` if its checksum is wrong, because the picture might be upside down. After the rows, such a
    ///   chunk is ignored.
    func exif() throws(CodecError) -> [UInt8]? {
        var position = 8
        var isBehind = false
        while bytes.count - position >= 12 {
            let size = number(at: position)
            let name = bytes[(position + 4)..<(position + 8)]
            guard size <= bytes.count - position - 12, !name.elementsEqual("IEND".utf8) else { return nil }
            isBehind = isBehind || name.elementsEqual("IDAT".utf8)
            if name.elementsEqual("eXIf".utf8) {
                let named = UnsafeBufferPointer(rebasing: bytes[(position + 4)..<(position + 8 + size)])
                guard Int(cpng_crc(0, named.baseAddress, named.count)) == number(at: position + 8 + size) else {
                    if isBehind { return nil }
                    throw .damaged(reason: "eXIf: CRC error")
                }
                return Array(named.dropFirst(4).prefix(ImageHeader.largestEXIF))
            }
            position += size + 12
        }
        return nil
    }

    /// Four bytes, big-endian.
    private func number(at position: Int) -> Int {
        bytes[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}
