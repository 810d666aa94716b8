/// The output of a hash function or of HMAC: at most 32 bytes, stored in place.
package struct Digest: Sendable {
    /// Not an `InlineArray`, which iOS has only since version 26.
    private var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    package let count: Int

    /// - Parameter fill: writes `count` bytes.
    init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self.count = count
        Swift.withUnsafeMutableBytes(of: &bytes) { fill(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try Swift.withUnsafeBytes(of: bytes) { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
}

extension Digest: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(position: Int) -> UInt8 {
        precondition(position < count, "a digest has \(count) bytes")
        return withUnsafeBytes { $0[position] }
    }

    package func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try withUnsafeBytes { try $0.withMemoryRebound(to: UInt8.self, body) }
    }
}

/// Compares in constant time.
extension Digest: Equatable {
    package static func == (left: Self, right: Self) -> Bool { ConstantTime.areEqual(left, right) }
}
