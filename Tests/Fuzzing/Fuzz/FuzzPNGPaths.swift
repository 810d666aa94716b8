import OnesheetCore
import PNGCodec

/// Arbitrary bytes give an error or a whole picture. The fast path gives the pixels and errors of libpng.
enum FuzzPNGPaths {
    static func run(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
        let file = repaired(Array(bytes))
        let limits = Limits(pixels: 1 << 20)
        let fast = pixels(of: file, PNGCodec(), DecodeRequest(limits: limits))
        let reference = pixels(of: file, PNGCodec(onlyLibpng: true), DecodeRequest(limits: limits))
        precondition(fast == reference, "the two paths differ")
        let lenient = pixels(of: file, PNGCodec(), DecodeRequest(acceptsTruncated: true, limits: limits))
        precondition(reference == nil || lenient == reference, "a whole file is read differently where less would do")
        let request = DecodeRequest(acceptsTruncated: true, limits: limits)
        precondition(lenient == pixels(of: file, PNGCodec(onlyLibpng: true), request), "the two paths differ where less would do")
        return 0
    }
}

/// The result of a codec for a file; `nil` for an error.
private func pixels(of file: [UInt8], _ codec: PNGCodec, _ request: DecodeRequest) -> [UInt8]? {
    var sink = Keeping()
    do throws(CodecError) {
        _ = try codec.header(of: file.span)
        try codec.decode(file.span, request, into: &sink)
    } catch {
        return nil
    }
    precondition(sink.rows == sink.shape?.height, "rows are missing")
    return sink.samples
}

/// Stores every sample.
private struct Keeping: RowSink {
    private(set) var shape: PixelLayout.Plane?
    private(set) var samples: [UInt8] = []
    private(set) var rows = 0

    mutating func begin(_ layout: PixelLayout) {
        precondition(shape == nil, "began twice")
        shape = layout.planes[0]
    }

    mutating func row(_ row: Span<UInt8>, plane: Int, y: Int) {
        guard let shape, plane == 0, y == rows, row.count >= shape.width * shape.channels else { preconditionFailure("row \(y)") }
        for place in 0..<(shape.width * shape.channels) { samples.append(row[place]) }
        rows += 1
    }
}

/// The same file with correct chunk checksums, which mutations would hardly find; the last byte decides.
private func repaired(_ file: [UInt8]) -> [UInt8] {
    guard let last = file.last, last % 4 > 0 else { return file }
    var file = file
    var position = 8
    while file.count - position >= 12 {
        let size = file[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) }
        guard size <= file.count - position - 12 else { break }
        var crc: UInt32 = .max
        for byte in file[(position + 4)..<(position + 8 + size)] {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
        }
        for place in 0..<4 { file[position + 8 + size + place] = UInt8(truncatingIfNeeded: ~crc >> (24 - 8 * place)) }
        position += size + 12
    }
    return file
}
