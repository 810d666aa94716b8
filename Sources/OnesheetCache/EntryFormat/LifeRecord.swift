internal import FoundationEssentials
internal import NIOCore

/// Until when an entry stays, with a check of its own, so that reading an entry can extend its life without writing it anew.
struct LifeRecord: Equatable {
    static let offset = 56
    static let length = 16
    let end: Date?

    init(end: Date?) { self.end = end }

    /// - Parameter name: the file's name, so that no other file's record passes for this one's.
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
