import NIOCore
import OnesheetCore

/// A property in a message.
struct WireField<Root>: Sendable {
    let write: @Sendable (Root, inout ByteBuffer) -> Void
    let read: @Sendable (inout Root, inout WireReader) throws(WireError) -> Void

    init<Value: WireValue>(_ path: any WritableKeyPath<Root, Value> & Sendable) {
        write = { root, message in message.write(root[keyPath: path]) }
        read = { root, message throws(WireError) in root[keyPath: path] = try message.read() }
    }
}

extension Transform: WireValue {
    /// Every stored property.
    static let fields = TransformOption.all.flatMap(\.properties).map { property in
        switch property {
        case .flag(let path): WireField<Transform>(path)
        case .integer(let path): WireField(path)
        case .number(let path): WireField(path)
        case .resizing(let path): WireField(path)
        case .gravity(let path): WireField(path)
        case .position(let path): WireField(path)
        case .crop(let path): WireField(path)
        case .trim(let path): WireField(path)
        case .padding(let path): WireField(path)
        case .color(let path): WireField(path)
        case .watermark(let path): WireField(path)
        case .format(let path): WireField(path)
        case .formats(let path): WireField(path)
        case .qualities(let path): WireField(path)
        }
    }

    func write(to message: inout ByteBuffer) {
        for field in Self.fields { field.write(self, &message) }
    }

    init(from message: inout WireReader) throws(WireError) {
        self.init()
        for field in Self.fields { try field.read(&self, &message) }
    }
}

extension Transform.Resizing: WireValue {}

extension Transform.Trim: WireValue {
    func write(to message: inout ByteBuffer) {
        message.write(threshold)
        message.write(color)
        message.write(isEqualHorizontally)
        message.write(isEqualVertically)
    }

    init(from message: inout WireReader) throws(WireError) {
        self.init(
            threshold: try message.read(), color: try message.read(), isEqualHorizontally: try message.read(),
            isEqualVertically: try message.read())
    }
}

extension Transform.Crop: WireValue {
    func write(to message: inout ByteBuffer) {
        message.write(width)
        message.write(height)
        message.write(gravity)
        message.write(isSquare)
        message.write(insets)
    }

    init(from message: inout WireReader) throws(WireError) {
        self.init(width: try message.read(), height: try message.read(), gravity: try message.read())
        isSquare = try message.read()
        insets = try message.read()
    }
}

extension Transform.Padding: WireValue {
    func write(to message: inout ByteBuffer) {
        for side in [top, right, bottom, left] { message.write(side) }
    }

    init(from message: inout WireReader) throws(WireError) {
        self.init(top: try message.read(), right: try message.read(), bottom: try message.read(), left: try message.read())
    }
}

extension Color: WireValue {
    func write(to message: inout ByteBuffer) {
        for channel in [red, green, blue] { message.write(channel) }
    }

    init(from message: inout WireReader) throws(WireError) {
        self.init(red: try message.read(), green: try message.read(), blue: try message.read())
    }
}

extension Gravity: WireValue {
    func write(to message: inout ByteBuffer) {
        func write(_ tag: UInt8, whole: [Int] = [], fractions: [Double] = []) {
            message.write(tag)
            for number in whole { message.write(number) }
            for number in fractions { message.write(number) }
        }
        switch self {
        case .compass(let x, let y): write(0, whole: [x, y])
        case .focus(let x, let y): write(1, fractions: [x, y])
        case .corner(let x, let y): write(2, whole: [x, y])
        case .smart: write(3)
        case .offset(let x, let y, let across, let down): write(4, whole: [x, y], fractions: [across, down])
        case .point(let x, let y): write(5, fractions: [x, y])
        }
    }

    init(from message: inout WireReader) throws(WireError) {
        switch try message.read(UInt8.self) {
        case 0: self = .compass(x: try message.read(), y: try message.read())
        case 1: self = .focus(x: try message.read(), y: try message.read())
        case 2: self = .corner(x: try message.read(), y: try message.read())
        case 3: self = .smart
        case 4:
            self = .offset(
                x: try message.read(), y: try message.read(), across: try message.read(), down: try message.read())
        case 5: self = .point(x: try message.read(), y: try message.read())
        default: throw WireError()
        }
    }
}

extension Transform.Watermark: WireValue {
    func write(to message: inout ByteBuffer) {
        message.write(opacity)
        message.write(position)
        message.write(offsetX)
        message.write(offsetY)
        message.write(scale)
        message.write(digest)
    }

    init(from message: inout WireReader) throws(WireError) {
        self.init(
            opacity: try message.read(), position: try message.read(), offsetX: try message.read(), offsetY: try message.read(),
            scale: try message.read(), digest: try message.read())
    }
}

extension Transform.Watermark.Position: WireValue {
    func write(to message: inout ByteBuffer) {
        switch self {
        case .repeated: message.write(false)
        case .compass(let x, let y):
            message.write(true)
            message.write(x)
            message.write(y)
        }
    }

    init(from message: inout WireReader) throws(WireError) {
        self = try message.read(Bool.self) ? .compass(x: try message.read(), y: try message.read()) : .repeated
    }
}
