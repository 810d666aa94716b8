import HTTPTypes
import NIOCore
import NIOHPACK

/// Encodes the fields of responses as HPACK literals without indexing (RFC 7541 §6.2.2), or as entries of the static table.
///
/// A dynamic table would save some hundred bytes a response, and costs more time than they do: each field is looked up. Without it, an
/// encoded head is the same on each connection, and is made once.
enum HPACKFieldEncoder {
    /// A change of the table's size to 0 (RFC 7541 §6.3).
    static let emptyTable = ByteBuffer(bytes: [0x20])

    static func block(_ head: HTTPResponse) -> ByteBuffer {
        var block = ByteBuffer()
        append(":status", "\(head.status.code)", to: &block)
        for field in head.headerFields { append(field.name.canonicalName, field.value, to: &block) }
        return block
    }

    static func block(_ fields: HPACKHeaders) -> ByteBuffer {
        var block = ByteBuffer()
        for (name, value, _) in fields { append(name, value, to: &block) }
        return block
    }

    private static func append(_ name: String, _ value: String, to block: inout ByteBuffer) {
        if name == ":status", let index = statuses[value] {
            block.writeInteger(0x80 | index)
        } else if let index = names[name] {
            append(index, prefix: 4, to: &block)
            append(value, to: &block)
        } else {
            block.writeInteger(0 as UInt8)
            append(name, to: &block)
            append(value, to: &block)
        }
    }

    /// Writes a text without Huffman's code, which would cost more time than its bytes.
    private static func append(_ text: String, to block: inout ByteBuffer) {
        append(text.utf8.count, prefix: 7, to: &block)
        block.writeString(text)
    }

    /// Writes a number (RFC 7541 §5.1). The bits before its prefix are 0.
    private static func append(_ number: Int, prefix bits: Int, to block: inout ByteBuffer) {
        let most = 1 << bits - 1
        guard number >= most else { return _ = block.writeInteger(UInt8(number)) }
        block.writeInteger(UInt8(most))
        var rest = number - most
        while rest >= 128 {
            block.writeInteger(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        block.writeInteger(UInt8(rest))
    }

    /// The statuses of the static table (RFC 7541 appendix A).
    private static let statuses: [String: UInt8] = [
        "200": 8, "204": 9, "206": 10, "304": 11, "400": 12, "404": 13, "500": 14,
    ]

    /// The names in the static table that responses have.
    private static let names: [String: Int] = [
        ":status": 8, "accept-ranges": 18, "access-control-allow-origin": 20, "age": 21, "allow": 22, "cache-control": 24,
        "content-disposition": 25, "content-encoding": 26, "content-language": 27, "content-length": 28, "content-location": 29,
        "content-range": 30, "content-type": 31, "date": 33, "etag": 34, "expires": 36, "last-modified": 44, "link": 45,
        "location": 46, "retry-after": 53, "server": 54, "set-cookie": 55, "strict-transport-security": 56, "vary": 59,
        "www-authenticate": 61,
    ]
}
