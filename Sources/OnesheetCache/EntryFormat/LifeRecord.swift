internal import FoundationEssentials
internal import NIOCore

/// The expiry of an entry with its own checksum, so that a read can extend the lifetime without rewriting the file.
struct LifeRecord: Equatable {
    static let offset = 56
    static let length = 16
    let end: Date?

    init(end: Date?) { self.end = end }

    /// - Parameter name: the name of the file, so that the record of another file is invalid here.
    init?(reading buffer: inout ByteBuffer, named name: Digest128) {
        guard let (pattern, check) = buffer.readMultipleIntegers(as: (UInt64, UInt64).self),
            check == Self.check(pattern, name)
        else { return nil }
        let seconds = Double(bitPattern: pattern)
        end = seconds == .infinity ? nil : Date(timeIntervalSinceReferenceDate: seconds)
    }

    func bytes(named name: Digest128) -> ByteBuffer {
        let pattern = (end?.timeIntervalSinceReferenceDate ?? .infinity).bitPattern
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(pattern, Self.check(pattern, name))
        return buffer
    }

    private static func check(_ pattern: UInt64, _ name: Digest128) -> UInt64 {
        var buffer = ByteBuffer()
        buffer.writeMultipleIntegers(pattern, name.high, name.low)
        return Digest128(checking: buffer).high
    }
}
