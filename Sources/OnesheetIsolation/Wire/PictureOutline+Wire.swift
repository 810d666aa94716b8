import NIOCore
import OnesheetCore
import OnesheetImaging

/// Without the length of the file, which the server knows itself.
extension PictureOutline: WireValue {
    func write(to message: inout ByteBuffer) {
        message.write(header.format)
        message.write(header.width)
        message.write(header.height)
        message.write(header.model)
        message.write(header.hasAlpha)
        message.write(header.orientation)
        message.write(header.colors)
        message.write(header.isProgressive)
        message.write(header.scans)
        message.write(profile)
    }

    init(from message: inout WireReader) throws(WireError) {
        var header = ImageHeader(
            format: try message.read(), width: try message.read(), height: try message.read(), model: try message.read(),
            hasAlpha: try message.read(), orientation: try message.read(), colors: try message.read(),
            isProgressive: try message.read())
        header.scans = try message.read()
        let profile: Int = try message.read()
        guard header.width > 0, header.height > 0, header.scans >= 0, profile >= 0 else { throw WireError() }
        self.init(header, profile: profile, count: 0)
    }
}

extension ColorModel: WireValue {
    private static let all: [Self] = [.gray, .rgb, .ycbcr, .cmyk]

    func write(to message: inout ByteBuffer) {
        let number: UInt8 =
            switch self {
            case .gray: 0
            case .rgb: 1
            case .ycbcr: 2
            case .cmyk: 3
            }
        message.write(number)
    }

    init(from message: inout WireReader) throws(WireError) {
        let number = Int(try message.read(UInt8.self))
        guard Self.all.indices.contains(number) else { throw WireError() }
        self = Self.all[number]
    }
}

extension Orientation: WireValue {}

/// Its kind only.
extension ColorDescription: WireValue {
    func write(to message: inout ByteBuffer) {
        let kind: UInt8 =
            switch self {
            case .sRGB: 0
            case .icc: 1
            case .gamma, .primaries: 2
            }
        message.write(kind)
    }

    init(from message: inout WireReader) throws(WireError) {
        switch try message.read(UInt8.self) {
        case 0: self = .sRGB
        case 1: self = .icc([])
        case 2: self = .gamma(2.2, chromaticities: nil)
        default: throw WireError()
        }
    }
}
