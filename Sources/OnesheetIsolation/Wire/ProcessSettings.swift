import NIOCore
package import OnesheetCore
package import OnesheetImaging

/// The settings that a render process gets from its server. No keys, no addresses, no sources.
package struct ProcessSettings: Sendable {
    package var linearLight: Bool
    package var acceptTruncated: Bool
    package var deadline: Duration
    package var limits: Limits
    /// The codecs' own keys, by codec.
    package var codecs: [String: ConfigurationValue]
    package var watermark: WatermarkImage?

    package init(of renderer: Renderer, limits: Limits, codecs: [String: ConfigurationValue]) {
        linearLight = renderer.resamplesInLinearLight
        acceptTruncated = renderer.acceptsTruncated
        deadline = renderer.deadline
        watermark = renderer.watermark
        self.limits = limits
        self.codecs = codecs
    }

    /// The most bytes of a picture.
    var inputCapacity: Int { max(limits.originBytes, watermark?.pixels.count ?? 0) }

    func renderer(_ codecs: CodecSet) -> Renderer {
        var renderer = Renderer(codecs, limits: limits)
        renderer.resamplesInLinearLight = linearLight
        renderer.acceptsTruncated = acceptTruncated
        renderer.deadline = deadline
        renderer.watermark = watermark
        return renderer
    }
}

/// The pixels of a watermark are not in the message, but in the input.
extension ProcessSettings: WireValue {
    func write(to message: inout ByteBuffer) {
        message.write(linearLight)
        message.write(acceptTruncated)
        message.write(deadline)
        for number in [limits.originBytes, limits.pixels, limits.outputPixels, limits.scans, limits.memory] {
            message.write(number)
        }
        message.write(codecs)
        message.write(watermark != nil)
        guard let watermark else { return }
        message.write(watermark.width)
        message.write(watermark.height)
        message.write(watermark.opacity)
        message.write(watermark.digest)
    }

    init(from message: inout WireReader) throws(WireError) {
        linearLight = try message.read()
        acceptTruncated = try message.read()
        deadline = try message.read()
        limits = Limits()
        limits.originBytes = try message.read()
        limits.pixels = try message.read()
        limits.outputPixels = try message.read()
        limits.scans = try message.read()
        limits.memory = try message.read()
        codecs = try message.read()
        guard try message.read(Bool.self) else { return }
        watermark = WatermarkImage(
            width: try message.read(), height: try message.read(), pixels: [], opacity: try message.read(),
            digest: try message.read())
    }
}

extension ConfigurationValue: WireValue {
    func write(to message: inout ByteBuffer) {
        switch self {
        case .null: message.write(0 as UInt8)
        case .scalar(let text):
            message.write(1 as UInt8)
            message.write(text)
        case .list(let values):
            message.write(2 as UInt8)
            message.write(values)
        case .mapping(let values):
            message.write(3 as UInt8)
            message.write(values)
        }
    }

    init(from message: inout WireReader) throws(WireError) {
        self =
            switch try message.read(UInt8.self) {
            case 0: .null
            case 1: .scalar(try message.read())
            case 2: .list(try message.read())
            case 3: .mapping(try message.read())
            default: throw WireError()
            }
    }
}
