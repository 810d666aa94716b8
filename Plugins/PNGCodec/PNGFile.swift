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

    /// EXIF of an eXIf chunk, which may come after the rows, or else of a text chunk of ImageMagick: at most `ImageHeader.largestEXIF` bytes.
    func exif() -> [UInt8]? {
        var text: PNGChunk?
        for chunk in PNGChunks(bytes) {
            if chunk.isNamed("eXIf"), chunk.isIntact { return Array(chunk.contents.prefix(ImageHeader.largestEXIF)) }
            if text == nil, RawProfile.isEXIF(chunk) { text = chunk }
        }
        return text.flatMap { RawProfile($0)?.exif }
    }

    /// The colour space of the cICP chunk before palette and rows (W3C, third edition, §11.3.2.6). `nil` if there is none that is known: other
    /// chunks tell it then. Values for luma and chroma and for the limited range have no meaning in PNG.
    /// - Throws: `CodecError.unsupported` for high dynamic range.
    func colors() throws(CodecError) -> ColorDescription? {
        for chunk in PNGChunks(bytes) where !chunk.isBehindColors && chunk.isNamed("cICP") && chunk.isIntact {
            let values = chunk.contents.map { Int($0) }
            guard values.count == 4, values[2] == 0, values[3] == 1, [1, 9, 11, 12].contains(values[0]),
                [1, 4, 5, 6, 8, 13, 14, 15, 16, 18].contains(values[1])
            else { return nil }
            return try ColorDescription(primaries: values[0], transfer: values[1])
        }
        return nil
    }

    private func number(at position: Int) -> Int { bytes.bigEndian(at: position) }
}

/// A chunk that is there to its end.
struct PNGChunk {
    fileprivate let bytes: UnsafeBufferPointer<UInt8>
    /// Whether a PLTE or an IDAT came before.
    let isBehindColors: Bool

    var contents: Slice<UnsafeBufferPointer<UInt8>> { bytes[8..<(bytes.count - 4)] }

    /// Whether its checksum is right.
    var isIntact: Bool {
        Int(cpng_crc(0, bytes.baseAddress.map { $0 + 4 }, bytes.count - 8)) == bytes.bigEndian(at: bytes.count - 4)
    }

    func isNamed(_ name: StaticString) -> Bool { bytes[4..<8].elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: 4)) }
}

/// The chunks of a file up to IEND, or to the first that is cut off.
private struct PNGChunks: Sequence, IteratorProtocol {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 8
    private var isBehindColors = false

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func next() -> PNGChunk? {
        guard bytes.count - position >= 12 else { return nil }
        let size = bytes.bigEndian(at: position)
        guard size <= bytes.count - position - 12 else { return nil }
        let whole = UnsafeBufferPointer(rebasing: bytes[position..<(position + size + 12)])
        let chunk = PNGChunk(bytes: whole, isBehindColors: isBehindColors)
        if chunk.isNamed("IEND") { return nil }
        isBehindColors = isBehindColors || chunk.isNamed("PLTE") || chunk.isNamed("IDAT")
        position += whole.count
        return chunk
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Four bytes.
    fileprivate func bigEndian(at position: Int) -> Int { self[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) } }
}
