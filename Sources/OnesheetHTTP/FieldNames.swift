package import HTTPTypes

/// Header fields without a constant in HTTPTypes.
extension HTTPField.Name {
    /// Creates a field name from a valid constant.
    fileprivate static func known(_ name: String) -> Self {
        guard let field = HTTPField.Name(name) else { preconditionFailure("“\(name)” is not a field name") }
        return field
    }

    package static let cacheStatus = known("Cache-Status")
    package static let serverTiming = known("Server-Timing")
    package static let requestID = known("X-Request-Id")
    package static let traceParent = known("traceparent")
    package static let traceState = known("tracestate")
    package static let link = known("Link")
    /// Whether nginx collects a response before it passes it on.
    package static let xAccelBuffering = known("X-Accel-Buffering")
    package static let forwardedFor = known("X-Forwarded-For")
    package static let forwarded = known("Forwarded")
    package static let forwardedProto = known("X-Forwarded-Proto")
    /// The ThumbHash of the image, in Base64.
    package static let thumbHash = known("Onesheet-ThumbHash")
    /// The dominant colour of the image: `#rrggbb`.
    package static let color = known("Onesheet-Color")
    /// The size of the image in pixels: `342x513`.
    package static let size = known("Onesheet-Size")
    /// The parts of the address that have no effect: `label, order`.
    package static let ignored = known("Onesheet-Ignored")
    /// The kind of image that there is none of, and in whose place the fallback image is: `poster`.
    package static let fallback = known("Onesheet-Fallback")
}
