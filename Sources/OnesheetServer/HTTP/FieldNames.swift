import HTTPTypes

/// Fields that the library has no names for.
extension HTTPField.Name {
    /// Constant names, known to be valid.
    static func known(_ name: String) -> Self {
        guard let field = HTTPField.Name(name) else { preconditionFailure("“\(name)” is not a field name") }
        return field
    }

    static let cacheStatus = known("Cache-Status")
    static let serverTiming = known("Server-Timing")
    static let requestID = known("X-Request-Id")
    static let link = known("Link")
    static let forwardedFor = known("X-Forwarded-For")
    static let forwarded = known("Forwarded")
    static let forwardedProto = known("X-Forwarded-Proto")
    /// A picture's ThumbHash in base64.
    static let thumbHash = known("Onesheet-ThumbHash")
    /// The colour that most of a picture has: `#rrggbb`.
    static let color = known("Onesheet-Color")
    /// A picture's pixels: `342x513`.
    static let size = known("Onesheet-Size")
}
