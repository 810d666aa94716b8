package import HTTPTypes

/// Fields that the library has no names for.
extension HTTPField.Name {
    /// Constant names, known to be valid.
    fileprivate static func known(_ name: String) -> Self {
        guard let field = HTTPField.Name(name) else { preconditionFailure("“\(name)” is not a field name") }
        return field
    }

    package static let cacheStatus = known("Cache-Status")
    package static let serverTiming = known("Server-Timing")
    package static let requestID = known("X-Request-Id")
    package static let link = known("Link")
    package static let forwardedFor = known("X-Forwarded-For")
    package static let forwarded = known("Forwarded")
    package static let forwardedProto = known("X-Forwarded-Proto")
    /// A picture's ThumbHash in base64.
    package static let thumbHash = known("Onesheet-ThumbHash")
    /// The colour that most of a picture has: `#rrggbb`.
    package static let color = known("Onesheet-Color")
    /// A picture's pixels: `342x513`.
    package static let size = known("Onesheet-Size")
}
