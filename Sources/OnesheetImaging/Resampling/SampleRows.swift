/// Rows of samples with padding for whole vectors, initially zero.
final class SampleRows<Sample: FixedWidthInteger> {
    let count: Int
    private let memory: UnsafeMutablePointer<Sample>
    private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Sample>?>

    init(count: Int, width: Int) {
        self.count = count
        let stride = Self.stride(width)
        let capacity = stride * count + Self.slack
        memory = .allocate(capacity: capacity)
        memory.initialize(repeating: 0, count: capacity)
        pointers = .allocate(capacity: count + 4)
        pointers.initialize(repeating: nil, count: count + 4)
        for row in 0..<count { pointers[row] = memory + row * stride }
        self.stride = stride
    }

    private let stride: Int
    /// One vector at the end.
    private static var slack: Int { 64 }

    /// The length of a row is a multiple of 64 samples.
    private static func stride(_ width: Int) -> Int { (width + 63) & ~63 }

    /// The bytes of `count` rows.
    static func bytes(count: Int, width: Int) -> Int {
        (stride(width) * count + slack) * MemoryLayout<Sample>.size + (count + 4) * MemoryLayout<Int>.size
    }

    var bytes: Int { (stride * count + Self.slack) * MemoryLayout<Sample>.size + (count + 4) * MemoryLayout<Int>.size }

    deinit {
        memory.deallocate()
        pointers.deallocate()
    }

    subscript(row: Int) -> UnsafeMutablePointer<Sample> { memory + row * stride }

    /// The rows in the form for C.
    var starts: UnsafeMutablePointer<UnsafeMutablePointer<Sample>?> { pointers }

    var constants: UnsafePointer<UnsafePointer<Sample>?> {
        UnsafeRawPointer(pointers).assumingMemoryBound(to: UnsafePointer<Sample>?.self)
    }
}
