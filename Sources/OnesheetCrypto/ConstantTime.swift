/// Compares secrets in constant time: the duration depends only on the number of bytes and does not reveal a correct prefix.
package enum ConstantTime {
    package static func areEqual(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Bool {
        left.withBytes { left in
            right.withBytes { right in left.count == right.count && Backend.areEqual(left, right) }
        }
    }
}

extension Sequence<UInt8> {
    /// Calls `body` with the bytes, without a copy if they are contiguous.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) } ?? Array(self).withUnsafeBytes(body)
    }
}
