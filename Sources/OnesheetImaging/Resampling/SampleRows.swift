/// Some rows of samples with room for whole vectors, all zero at first.
final class SampleRows<Sample: FixedWidthInteger> {
    let count: Int
    private let memory: UnsafeMutablePointer<Sample>
    private let pointers: UnsafeMutablePointer<UnsafeMutablePointer<Sample>?>

    init(count: Int, width: Int) {
        self.count = count
        // Rows a multiple of 64 bytes long, and one vector of slack at the end.
        let stride = (width + 63) & ~63
        let capacity = stride * count + 64
        memory = .allocate(capacity: capacity)
        memory.initialize(repeating: 0, count: capacity)
        pointers = .allocate(capacity: count + 4)
        pointers.initialize(repeating: nil, count: count + 4)
        for row in 0..<count { pointers[row] = memory + row * stride }
        self.stride = stride
    }

    private let stride: Int

    deinit {
        memory.deallocate()
        pointers.deallocate()
    }

    subscript(row: Int) -> UnsafeMutablePointer<Sample> { memory + row * stride }

    /// The rows as C takes them.
    var starts: UnsafeMutablePointer<UnsafeMutablePointer<Sample>?> { pointers }

    var constants: UnsafePointer<UnsafePointer<Sample>?> {
        UnsafeRawPointer(pointers).assumingMemoryBound(to: UnsafePointer<Sample>?.self)
    }
}
