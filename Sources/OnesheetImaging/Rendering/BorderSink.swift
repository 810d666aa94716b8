import CImaging
import OnesheetCore

/// Finds the part of a picture inside an even border, while the rows are decoded. Keeps no rows.
struct BorderSink: RowSink, ~Copyable {
    private let trim: Transform.Trim
    private var watch: DeadlineWatch
    private var layout: PixelLayout?
    private var border: SIMD4<Double>?
    /// A row of inks in RGB.
    private var converted: [UInt8] = []
    private var (left, top, right, bottom) = (Int.max, Int.max, 0, 0)

    /// The background of transparent pixels.
    private static let magenta = SIMD4<Double>(255, 0, 255, 0)

    init(_ trim: Transform.Trim, by deadline: Deadline) {
        self.trim = trim
        watch = DeadlineWatch(deadline)
        border = trim.color.map { SIMD4(Double($0.red), Double($0.green), Double($0.blue), 0) }
    }

    /// The pixels inside; `nil` if all belong to the border.
    var inside: Rectangle? {
        guard left < right else { return nil }
        return Rectangle((left, top), Size(width: right - left, height: bottom - top))
    }

    mutating func begin(_ layout: PixelLayout) throws(CodecError) {
        self.layout = layout
        if layout.model == .cmyk { converted = [UInt8](repeating: 0, count: layout.width * 3) }
        try watch.deadline.check()
    }

    mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError) {
        guard let layout else { return }
        try watch.row(samples: samples.count)
        guard layout.model == .cmyk else { return look(samples, channels: layout.planes[0].channels, layout, y: y) }
        samples.withUnsafeBufferPointer { inks in
            guard let inks = inks.baseAddress else { return }
            converted.withUnsafeMutableBufferPointer { row in
                if let row = row.baseAddress { ck_rgb_from_cmyk(inks, row, Int32(layout.width)) }
            }
        }
        let row = converted
        look(row.span, channels: 3, layout, y: y)
    }

    private mutating func look(_ row: Span<UInt8>, channels: Int, _ layout: PixelLayout, y: Int) {
        let colors = layout.hasAlpha ? channels - 1 : channels
        func color(_ x: Int) -> SIMD4<Double> {
            let place = x * channels
            let first = Double(row[place])
            let color =
                colors < 3
                ? SIMD4(first, first, first, 0) : SIMD4(first, Double(row[place + 1]), Double(row[place + 2]), 0)
            guard layout.hasAlpha else { return color }
            let alpha = Double(row[place + colors]) / 255
            return color * alpha + Self.magenta * (1 - alpha)
        }
        let border = self.border ?? color(0)
        self.border = border
        func isInside(_ x: Int) -> Bool {
            let difference = color(x) - border
            return max(difference.max(), -difference.min()) > trim.threshold
        }
        guard let first = (0..<layout.width).first(where: isInside) else { return }
        let last = (first..<layout.width).last(where: isInside) ?? first
        (left, right) = (min(left, first), max(right, last + 1))
        (top, bottom) = (min(top, y), max(bottom, y + 1))
    }
}
