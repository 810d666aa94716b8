import NIOCore
import OnesheetCore

/// A message between a server and a render process is invalid.
struct WireError: Error {}

/// A value in a message. Both sides distrust the other: every length is checked before it is used, and every byte of a message has a
/// meaning. Numbers are little-endian.
protocol WireValue: SendableMetatype {
    func write(to message: inout ByteBuffer)
    init(from message: inout WireReader) throws(WireError)
}

/// Reads a message.
struct WireReader {
    private var bytes: ByteBuffer
    /// The formats that a message may name.
    let formats: [ImageFormat]

    init(_ bytes: ByteBuffer, formats: [ImageFormat]) {
        self.bytes = bytes
        self.formats = formats
    }

    /// Reads one value, which is the whole message.
    static func read<Value: WireValue>(
        _ type: Value.Type = Value.self, from bytes: ByteBuffer, formats: [ImageFormat]
    ) throws(WireError) -> Value {
        var reader = WireReader(bytes, formats: formats)
        let value = try Value(from: &reader)
        guard reader.bytes.readableBytes == 0 else { throw WireError() }
        return value
    }

    mutating func read<Value: WireValue>(_ type: Value.Type = Value.self) throws(WireError) -> Value { try Value(from: &self) }

    mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(WireError) -> Number {
        guard let number = bytes.readInteger(endianness: .little, as: type) else { throw WireError() }
        return number
    }

    /// Reads the number of elements that follow. Each has at least one byte.
    mutating func count() throws(WireError) -> Int {
        let count = Int(try integer(UInt32.self))
        guard count <= bytes.readableBytes else { throw WireError() }
        return count
    }

    mutating func slice() throws(WireError) -> ByteBuffer {
        guard let slice = bytes.readSlice(length: try count()) else { throw WireError() }
        return slice
    }
}

extension ByteBuffer {
    mutating func write(_ value: some WireValue) { value.write(to: &self) }

    /// Writes a length and the bytes.
    mutating func write(counted bytes: some Collection<UInt8>) {
        writeInteger(UInt32(bytes.count), endianness: .little)
        writeBytes(bytes)
    }
}

extension Bool: WireValue {
    func write(to message: inout ByteBuffer) { message.writeInteger(self ? 1 : 0, as: UInt8.self) }

    init(from message: inout WireReader) throws(WireError) {
        let byte = try message.integer(UInt8.self)
        guard byte <= 1 else { throw WireError() }
        self = byte == 1
    }
}

extension UInt8: WireValue {
    func write(to message: inout ByteBuffer) { message.writeInteger(self) }
    init(from message: inout WireReader) throws(WireError) { self = try message.integer() }
}

extension UInt64: WireValue {
    func write(to message: inout ByteBuffer) { message.writeInteger(self, endianness: .little) }
    init(from message: inout WireReader) throws(WireError) { self = try message.integer() }
}

extension Int: WireValue {
    func write(to message: inout ByteBuffer) { message.writeInteger(Int64(self), endianness: .little) }

    init(from message: inout WireReader) throws(WireError) {
        guard let number = Int(exactly: try message.integer(Int64.self)) else { throw WireError() }
        self = number
    }
}

extension Double: WireValue {
    func write(to message: inout ByteBuffer) { bitPattern.write(to: &message) }
    init(from message: inout WireReader) throws(WireError) { self.init(bitPattern: try message.integer()) }
}

extension Duration: WireValue {
    func write(to message: inout ByteBuffer) { message.write(self / .seconds(1)) }

    init(from message: inout WireReader) throws(WireError) {
        let seconds = try message.read(Double.self)
        guard seconds.isFinite, abs(seconds) < 1e9 else { throw WireError() }
        self = .seconds(seconds)
    }
}

extension String: WireValue {
    func write(to message: inout ByteBuffer) { message.write(counted: utf8) }
    init(from message: inout WireReader) throws(WireError) { self.init(buffer: try message.slice()) }
}

extension Optional: WireValue where Wrapped: WireValue {
    func write(to message: inout ByteBuffer) {
        message.write(self != nil)
        if let self { message.write(self) }
    }

    init(from message: inout WireReader) throws(WireError) {
        self = try message.read(Bool.self) ? try message.read(Wrapped.self) : nil
    }
}

extension Array: WireValue where Element: WireValue {
    func write(to message: inout ByteBuffer) {
        message.writeInteger(UInt32(count), endianness: .little)
        for element in self { message.write(element) }
    }

    init(from message: inout WireReader) throws(WireError) {
        self = []
        for _ in 0..<(try message.count()) { append(try message.read()) }
    }
}

extension Dictionary: WireValue where Key: WireValue, Value: WireValue {
    func write(to message: inout ByteBuffer) {
        message.writeInteger(UInt32(count), endianness: .little)
        for (key, value) in self {
            message.write(key)
            message.write(value)
        }
    }

    init(from message: inout WireReader) throws(WireError) {
        self = [:]
        for _ in 0..<(try message.count()) {
            let key = try message.read(Key.self)
            self[key] = try message.read(Value.self)
        }
    }
}

extension WireValue where Self: RawRepresentable, RawValue: WireValue {
    func write(to message: inout ByteBuffer) { message.write(rawValue) }

    init(from message: inout WireReader) throws(WireError) {
        guard let value = Self(rawValue: try message.read()) else { throw WireError() }
        self = value
    }
}

/// Sends only the name, because the receiver has all other facts about a format.
extension ImageFormat: WireValue {
    func write(to message: inout ByteBuffer) { message.write(name) }

    init(from message: inout WireReader) throws(WireError) {
        let name = try message.read(String.self)
        guard let format = message.formats.first(where: { $0.name == name }) else { throw WireError() }
        self = format
    }
}
