public import OnesheetCore

/// A sink that stores its rows and records violations of the contract of `RowSink`.
public struct RowCollector: RowSink {
    /// The layout passed to `begin`; `nil` before.
    public private(set) var layout: PixelLayout?
    /// Samples of each plane, without padding.
    public private(set) var planes: [[UInt8]] = []
    /// The number of rows of each plane.
    public private(set) var rows: [Int] = []
    /// The violations of the contract, in order.
    public private(set) var breaches: [String] = []
    /// Throws at the call after this many, counting `begin` as the first; `nil` never throws.
    public var failsAfter: Int?
    /// The error to throw.
    public static let failure = CodecError.damaged(reason: "the sink has had enough")

    private var calls = 0

    public init(failsAfter: Int? = nil) { self.failsAfter = failsAfter }

    /// Whether all rows of all planes have come.
    public var isComplete: Bool { layout.map { $0.planes.map(\.height) == rows } ?? false }

    public mutating func begin(_ layout: PixelLayout) throws(CodecError) {
        try count()
        if self.layout != nil { breaches.append("began twice") }
        self.layout = layout
        planes = layout.planes.map { [UInt8](repeating: 0, count: $0.width * $0.height * $0.channels) }
        rows = layout.planes.map { _ in 0 }
    }

    public mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError) {
        try count()
        guard let layout, layout.planes.indices.contains(plane) else { return breaches.append("a row of plane \(plane)") }
        let shape = layout.planes[plane]
        let size = shape.width * shape.channels
        guard y == rows[plane], y < shape.height else {
            return breaches.append("row \(y) of plane \(plane) after \(rows[plane]) of \(shape.height)")
        }
        guard samples.count >= size else { return breaches.append("\(samples.count) samples instead of \(size)") }
        for index in 0..<size { planes[plane][y * size + index] = samples[index] }
        rows[plane] += 1
    }

    public mutating func row(_ samples: Span<UInt8>, variances: Span<UInt16>, y: Int) throws(CodecError) {
        if variances.count != layout?.width { breaches.append("\(variances.count) variances of row \(y)") }
        try row(samples, plane: 0, y: y)
    }

    /// Red, green, blue and alpha of all pixels of a packed gray or RGB picture; `nil` for other layouts.
    public var rgba: [UInt8]? {
        guard let layout, layout.model == .gray || layout.model == .rgb else { return nil }
        let colors = layout.model.channels
        let channels = layout.planes[0].channels
        return stride(from: 0, to: planes[0].count, by: channels).flatMap { start in
            let color = (0..<3).map { planes[0][start + min($0, colors - 1)] }
            return color + [layout.hasAlpha ? planes[0][start + colors] : 255]
        }
    }

    private mutating func count() throws(CodecError) {
        defer { calls += 1 }
        if let failsAfter, calls >= failsAfter {
            if calls > failsAfter { breaches.append("went on after the sink had thrown") }
            throw Self.failure
        }
    }
}
