import FoundationEssentials
import NIOCore

/// Writes a tar archive (POSIX.1-2017 ustar) with one entry in memory at a time. Headers contain no times and no owners, so equal
/// content gives equal bytes.
struct TarWriter: ~Copyable {
    private static let block = 512

    private let write: (ByteBuffer) throws -> Void

    /// - Parameter write: receives the archive's bytes in order.
    init(_ write: @escaping (ByteBuffer) throws -> Void) { self.write = write }

    /// Adds a file.
    /// - Parameter name: a path with slashes, at most 100 bytes.
    mutating func add(_ name: String, _ body: ByteBuffer) throws {
        guard name.utf8.count <= 100 else { throw FileError("“\(name)” is too long for a tar archive") }
        try write(Self.header(name, size: body.readableBytes))
        try write(body)
        let rest = body.readableBytes % Self.block
        if rest > 0 { try write(ByteBuffer(repeating: 0, count: Self.block - rest)) }
    }

    /// Writes the end-of-archive blocks.
    consuming func finish() throws { try write(ByteBuffer(repeating: 0, count: 2 * Self.block)) }

    private static func header(_ name: String, size: Int) -> ByteBuffer {
        var fields = [UInt8](repeating: 0, count: block)
        func put(_ text: String, at offset: Int) { fields.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8) }
        func octal(_ number: Int, digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: digits - text.utf8.count) + text
        }
        put(name, at: 0)
        put("0000644", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(octal(size, digits: 11), at: 124)
        put("00000000000", at: 136)
        // The checksum is computed with its own field as spaces.
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar\0" + "00", at: 257)
        let sum = fields.reduce(0) { $0 + Int($1) }
        put(octal(sum, digits: 6) + "\0 ", at: 148)
        return ByteBuffer(bytes: fields)
    }
}
