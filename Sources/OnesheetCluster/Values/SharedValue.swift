import NIOCore
import OnesheetCache
import OnesheetCore

/// A small text as an object, with a checksum over its name, its write and its bytes.
///
///     onesheet-value 1 {checksum} {write}
///     {text}
struct SharedValue: Sendable, Equatable {
    /// The most bytes of an object. A larger one is not of this server's making.
    static let longest = 1 << 20
    /// The most bytes of the first line.
    private static let longestHead = 160
    private static let magic = "onesheet-value"

    let text: String
    /// Names the write that made the object, so that a server whose answer was lost finds its own.
    let write: String

    /// Why an object is not a value.
    enum Damage: Error {
        /// The bytes are not those that were written under this name.
        case damaged
        /// A later version of the server has written it.
        case laterVersion
    }

    init(text: String, write: String) {
        self.text = text
        self.write = write
    }

    /// Reads the object that is called `name`.
    init(_ body: ByteBuffer, named name: String) throws(Damage) {
        let bytes = body.readableBytesView
        guard let end = bytes.prefix(Self.longestHead).firstIndex(of: UInt8(ascii: "\n")) else { throw .damaged }
        let head = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard head.count >= 2, head[0].isExactly(Self.magic) else { throw .damaged }
        guard head[1].isExactly("1") else {
            throw Int(head[1]).map { $0 > 1 } ?? false ? .laterVersion : .damaged
        }
        let content = bytes[bytes.index(after: end)...]
        guard head.count == 4, case let write = String(head[3]),
            let checksum = Digest128(hex: head[2]), checksum == Self.checksum(content, write: write, name: name)
        else { throw .damaged }
        self.init(text: String(decoding: content, as: UTF8.self), write: write)
    }

    /// The object with the name `name`.
    func object(named name: String) -> ByteBuffer {
        let checksum = Self.checksum(text.utf8, write: write, name: name)
        return ByteBuffer(string: "\(Self.magic) 1 \(checksum.hex) \(write)\n\(text)")
    }

    private static func checksum(_ content: some Sequence<UInt8>, write: String, name: String) -> Digest128 {
        var bytes = ByteBuffer(string: "\(name)\n\(write)\n")
        bytes.writeBytes(content)
        return Digest128(checking: bytes)
    }
}
