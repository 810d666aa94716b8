package import OnesheetCore

/// The reason for which a variant cannot be rendered.
package enum RenderError: Error, Sendable, Equatable {
    /// No codec recognises the bytes.
    case unrecognizedFormat
    /// A codec could not decode or encode.
    case codec(CodecError, ImageFormat)
    /// The variant would have more pixels than allowed.
    case tooManyOutputPixels(width: Int, height: Int, limit: Int)
    /// The crop is outside the picture, which has this size.
    case outside(width: Int, height: Int)
    /// It needs more memory than all renders together may have.
    case tooMuchMemory(bytes: Int, limit: Int)
    /// No codec encodes this format.
    case noEncoder(for: ImageFormat)
    /// It exceeded the deadline.
    case timedOut(after: Duration)
}

extension RenderError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unrecognizedFormat: "the bytes are not an image of a known format"
        case .codec(let error, let format): "\(format): \(error)"
        case .tooManyOutputPixels(let width, let height, let limit):
            "the variant would have \(width) × \(height) pixels; at most \(limit) are allowed"
        case .outside(let width, let height): "the crop is outside the picture, which has \(width) × \(height) pixels"
        case .tooMuchMemory(let bytes, let limit): "rendering takes \(bytes) bytes; at most \(limit) are allowed"
        case .noEncoder(let format): "no codec writes \(format)"
        case .timedOut(let duration): "the image was not made within \(duration)"
        }
    }
}
