internal import NIOCore
internal import OnesheetCore

extension CodecConformance {
    /// Sizes that have caused bugs before: single pixels, rows and columns, odd ones, one more than a block.
    static let sizes = [(1, 1), (1, 9), (9, 1), (2, 3), (7, 5), (16, 16), (17, 33), (65, 48)]

    /// A picture of soft gradients, so that lossy formats lose little.
    func picture(_ kind: PixelLayout, width: Int, height: Int) throws(CodecError) -> PixelBuffer {
        let layout = kind.sized(width, height)
        var picture = try PixelBuffer(layout, limits: Limits())
        for (index, plane) in layout.planes.enumerated() {
            for y in 0..<plane.height {
                picture.withMutableRow(y, plane: index) { row in
                    for place in 0..<row.count {
                        row[place] = Self.sample(x: place / plane.channels, y: y, channel: index + place % plane.channels)
                    }
                }
            }
        }
        return picture
    }

    private static func sample(x: Int, y: Int, channel: Int) -> UInt8 {
        let slopes = [(3, 1), (1, 2), (2, 2), (2, 1)]
        let (right, down) = slopes[channel % 4]
        return UInt8(clamping: 20 + 30 * channel + right * x + down * y)
    }

    /// One file of each kind and size, and the given files.
    func everyFile() throws -> [[UInt8]] {
        var all = files
        for kind in kinds { all.append(try file(kind, width: 33, height: 21)) }
        return all
    }

    func file(_ kind: PixelLayout, width: Int, height: Int, _ options: EncodeOptions = EncodeOptions()) throws -> [UInt8] {
        try encoded(try picture(kind, width: width, height: height), options)
    }

    func encoded(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws -> [UInt8] {
        guard let encoder else { throw Violation("\(codec.format) is only read") }
        return Array(try encoder.encode(picture, options).readableBytesView)
    }

    /// The samples of a picture in the form of a collector.
    func samples(of picture: borrowing PixelBuffer) throws -> RowCollector {
        var collector = RowCollector()
        try collector.begin(picture.layout)
        for (index, plane) in picture.layout.planes.enumerated() {
            for y in 0..<plane.height {
                try picture.withRow(y, plane: index) { row throws(CodecError) in
                    try collector.row(row, plane: index, y: y)
                }
            }
        }
        return collector
    }
}

extension PixelLayout {
    /// The same kind of picture in another size.
    func sized(_ width: Int, _ height: Int) -> PixelLayout {
        isPlanar
            ? PixelLayout(width: width, height: height, planarWithSubsampling: subsampling.x, subsampling.y)
            : PixelLayout(width: width, height: height, model: model, hasAlpha: hasAlpha)
    }
}
