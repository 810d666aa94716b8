/// A picture in memory. It owns its bytes, cannot be copied, and stays within `Limits`.
///
/// Rows start at multiples of 64 bytes, so kernels may read and write whole vectors.
public struct PixelBuffer: ~Copyable {
    /// The sizes and the order of the samples.
    public let layout: PixelLayout
    private let base: UnsafeMutableRawPointer
    private let offsets: [Int]
    private let strides: [Int]

    /// - Throws: `CodecError.tooManyPixels` if the picture has more than `limits.pixels`.
    public init(_ layout: PixelLayout, limits: Limits) throws(CodecError) {
        precondition(layout.width > 0 && layout.height > 0, "a picture has pixels")
        let (pixels, overflow) = layout.width.multipliedReportingOverflow(by: layout.height)
        guard !overflow, pixels <= limits.pixels else {
            throw .tooManyPixels(width: layout.width, height: layout.height, limit: limits.pixels)
        }
        var offsets: [Int] = []
        var strides: [Int] = []
        var size = 0
        for plane in layout.planes {
            let stride = Self.stride(of: plane)
            offsets.append(size)
            strides.append(stride)
            size += stride * plane.height
        }
        self.layout = layout
        self.offsets = offsets
        self.strides = strides
        base = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        base.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    }

    deinit { base.deallocate() }

    private static func stride(of plane: PixelLayout.Plane) -> Int { (plane.width * plane.channels + 63) & ~63 }

    /// The bytes of a picture with this layout, including the padding of rows, which dominates in narrow pictures.
    public static func bytes(for layout: PixelLayout) -> Int {
        layout.planes.reduce(0) { $0 + stride(of: $1) * $1.height }
    }

    /// The distance between two rows of `plane` in bytes.
    public func stride(of plane: Int) -> Int { strides[plane] }

    /// The bytes of the picture.
    public var allocatedBytes: Int { (offsets.last ?? 0) + (strides.last ?? 0) * (layout.planes.last?.height ?? 0) }

    /// Calls `body` with the samples of row `y` of `plane`.
    public func withRow<Result, Failure: Error>(
        _ y: Int, plane: Int = 0, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(Span(_unsafeElements: UnsafeBufferPointer(row(y, plane))))
    }

    /// Calls `body` with the writable samples of row `y` of `plane`.
    public mutating func withMutableRow<Result, Failure: Error>(
        _ y: Int, plane: Int = 0, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var span = MutableSpan(_unsafeElements: row(y, plane))
        return try body(&span)
    }

    /// Calls `body` with a pointer to the first byte of `plane`, for C. `stride(of:)` is the distance between rows.
    public func withPlane<Result, Failure: Error>(
        _ plane: Int, _ body: (UnsafePointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafePointer(start(of: plane)))
    }

    /// The writable form of `withPlane`.
    public mutating func withMutablePlane<Result, Failure: Error>(
        _ plane: Int, _ body: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(start(of: plane))
    }

    private func start(of plane: Int) -> UnsafeMutablePointer<UInt8> {
        (base + offsets[plane]).assumingMemoryBound(to: UInt8.self)
    }

    private func row(_ y: Int, _ plane: Int) -> UnsafeMutableBufferPointer<UInt8> {
        let shape = layout.planes[plane]
        precondition((0..<shape.height).contains(y), "row \(y) of \(shape.height)")
        return UnsafeMutableBufferPointer(start: start(of: plane) + y * strides[plane], count: shape.width * shape.channels)
    }
}

extension PixelBuffer {
    /// The gray picture in RGB with its alpha, for encoders without gray.
    package borrowing func grayInRGB() throws(CodecError) -> PixelBuffer {
        let (width, height, hasAlpha) = (layout.width, layout.height, layout.hasAlpha)
        var colored = try PixelBuffer(
            PixelLayout(width: width, height: height, model: .rgb, hasAlpha: hasAlpha), limits: Limits(pixels: width * height))
        let (from, to) = hasAlpha ? (2, 4) : (1, 3)
        for y in 0..<height {
            withRow(y) { gray in
                colored.withMutableRow(y) { row in
                    for x in 0..<width {
                        for channel in 0..<3 { row[x * to + channel] = gray[x * from] }
                        if hasAlpha { row[x * to + 3] = gray[x * from + 1] }
                    }
                }
            }
        }
        return colored
    }
}
