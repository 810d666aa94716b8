internal import CPNG
internal import OnesheetCore

/// The outside of a PNG file: signature and chunks (W3C, third edition, §5). What is in the chunks is libpng's business, eXIf apart.
struct PNGFile {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private let bytes: UnsafeBufferPointer<UInt8>

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var hasSignature: Bool { bytes.starts(with: Self.signature) }

    /// Looks at width and height in IHDR before anything is made for them.
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

    /// The first eXIf chunk, which may stand behind the rows, `ImageHeader.largestEXIF` bytes of it at the most.
    /// - Throws: `CodecError.damaged` if its checksum is wrong: the picture would stand on its head. Behind the rows it is none then.
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

    /// Four bytes, the most significant first.
    private func number(at position: Int) -> Int {
        bytes[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}
