import OnesheetCore
import PNGCodec

/// Arbitrary bytes give an error or a whole picture. The fast path gives the pixels of libpng. It may read more: rows before damage that
/// libpng has seen already, and codes that libpng refuses and the checksum proves right.
enum FuzzPNGPaths {
    static func run(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
        let file = repaired(Array(bytes))
        let limits = Limits(pixels: 1 << 20)
        let fast = picture(of: file, PNGCodec(), DecodeRequest(limits: limits))
        let reference = picture(of: file, PNGCodec(onlyLibpng: true), DecodeRequest(limits: limits))
        precondition(reference == nil || fast?.samples == reference?.samples, "the two paths differ")
        let request = DecodeRequest(acceptsTruncated: true, limits: limits)
        let lenient = picture(of: file, PNGCodec(), request)
        precondition(
            reference == nil || lenient?.samples == reference?.samples, "a whole file is read differently where less would do")
        guard let least = picture(of: file, PNGCodec(onlyLibpng: true), request) else { return 0 }
        guard let lenient, lenient.samples.count == least.samples.count else { preconditionFailure("the fast path reads less") }
        let row = least.samples.count / max(least.rows, 1)
        for start in stride(from: 0, to: least.samples.count, by: max(row, 1)) {
            let rows = (lenient.samples[start..<(start + row)], least.samples[start..<(start + row)])
            precondition(rows.0 == rows.1 || rows.1.allSatisfy { $0 == 0 }, "the two paths differ where less would do")
        }
        return 0
    }
}

/// The result of a codec for a file; `nil` for an error.
private func picture(of file: [UInt8], _ codec: PNGCodec, _ request: DecodeRequest) -> Keeping? {
    var sink = Keeping()
    do throws(CodecError) {
        _ = try codec.header(of: file.span)
        try codec.decode(file.span, request, into: &sink)
    } catch {
        return nil
    }
    precondition(sink.rows == sink.shape?.height, "rows are missing")
    return sink
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
