package import NIOCore
import OnesheetCore

/// Splits the bytes of a connection into replies. Every byte is looked at once, however the bytes are cut into pieces.
///
/// After an error the rest of the connection means nothing.
package struct RESPParser {
    /// The bounds of one reply. The defaults allow `CLUSTER SLOTS` of a cluster in which no two neighbouring slots have one master.
    package struct Limits: Sendable {
        /// Bytes of a line: a simple string, an error, a number.
        package var line = 65_536
        /// All bytes of a reply, including its lines.
        package var bytes = 32 << 20
        /// All values of a reply, including arrays.
        package var values = 500_000
        /// Arrays in arrays.
        package var depth = 8

        package init() {}
    }

    /// An array whose values have not all arrived.
    private struct OpenArray {
        var missing: Int
        var values: [RESPValue]
    }

    private let limits: Limits
    private var buffer = ByteBuffer()
    /// Bytes at the beginning of the buffer that have no line feed.
    private var scanned = 0
    /// The length of the bulk string whose line was read.
    private var bulk: Int?
    private var open: [OpenArray] = []
    /// The parts of the present reply so far.
    private var (bytes, values) = (0, 0)

    package init(limits: Limits = Limits()) { self.limits = limits }

    package mutating func append(_ bytes: ByteBuffer) {
        var bytes = bytes
        if buffer.readableBytes == 0 { buffer.clear() }
        if buffer.readerIndex > buffer.readableBytes { buffer.discardReadBytes() }
        buffer.writeBuffer(&bytes)
    }

    /// The next whole reply; `nil` if more bytes are needed.
    package mutating func next() throws(RESPError) -> RESPValue? {
        while let value = try value() {
            guard let reply = close(with: value) else { continue }
            (bytes, values) = (0, 0)
            return reply
        }
        return nil
    }

    /// Adds a value to the innermost array.
    /// - Returns: the value, or the outermost array if it has all its values now.
    private mutating func close(with value: RESPValue) -> RESPValue? {
        var value = value
        while var array = open.popLast() {
            array.values.append(value)
            array.missing -= 1
            if array.missing > 0 {
                open.append(array)
                return nil
            }
            value = .array(array.values)
        }
        return value
    }

    /// The next value that is not an array with values. Opens arrays on the way.
    private mutating func value() throws(RESPError) -> RESPValue? {
        while true {
            if let length = bulk { return try bulkString(length) }
            guard let (kind, line) = try line() else { return nil }
            values += 1
            guard values <= limits.values else { throw RESPError(reason: "a reply has more than \(limits.values) values") }
            switch kind {
            case UInt8(ascii: "+"): return .simple(line)
            case UInt8(ascii: "-"): return .error(line)
            case UInt8(ascii: ":"): return .integer(try number(line, in: Int.min...Int.max))
            case UInt8(ascii: "$"):
                let length = try number(line, in: -1...limits.bytes)
                if length < 0 { return .null }
                bulk = length
            case UInt8(ascii: "*"):
                let count = try number(line, in: -1...limits.values)
                if count < 0 { return .null }
                if count == 0 { return .array([]) }
                guard open.count < limits.depth else { throw RESPError(reason: "arrays are nested more than \(limits.depth) deep") }
                // Memory for announced data is not reserved, because the data may never arrive.
                open.append(OpenArray(missing: count, values: []))
            default: throw RESPError(reason: "a reply begins with the byte \(kind)")
            }
        }
    }

    private mutating func bulkString(_ length: Int) throws(RESPError) -> RESPValue? {
        guard length + 2 <= limits.bytes - bytes else { throw tooLarge }
        guard buffer.readableBytes >= length + 2 else { return nil }
        guard let content = buffer.readBytes(length: length), buffer.readInteger(as: UInt16.self) == 0x0D0A else {
            throw RESPError(reason: "a string is longer than announced")
        }
        bytes += length + 2
        bulk = nil
        return .bulk(content)
    }

    /// The first byte of the next line, and the rest without its end.
    private mutating func line() throws(RESPError) -> (kind: UInt8, text: String)? {
        let end = buffer.withUnsafeReadableBytes { bytes in bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) }
        guard let end else {
            scanned = buffer.readableBytes
            guard scanned <= limits.line else { throw RESPError(reason: "a line has more than \(limits.line) bytes") }
            return nil
        }
        scanned = 0
        guard end <= limits.line else { throw RESPError(reason: "a line has more than \(limits.line) bytes") }
        guard end + 1 <= limits.bytes - bytes else { throw tooLarge }
        bytes += end + 1
        guard let line = buffer.readBytes(length: end + 1), line.count >= 3, line[end - 1] == UInt8(ascii: "\r") else {
            throw RESPError(reason: "a line does not end as one of RESP2")
        }
        return (line[0], String(decoding: line[1..<(end - 1)], as: UTF8.self).streamSafe)
    }

    private func number(_ text: String, in range: ClosedRange<Int>) throws(RESPError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw RESPError(reason: "“\(text.prefix(40))” is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private var tooLarge: RESPError { RESPError(reason: "a reply has more than \(limits.bytes) bytes") }
}
