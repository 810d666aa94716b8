import OnesheetCore
import OnesheetPipeline

/// A request target that has been understood, with what was prepared for each format that it was answered in.
final class KnownTarget {
    let address: ImageAddress
    /// Where its answers are counted.
    let answers: EarlyAnswers
    private var variants: [ImageFormat?: KnownVariant] = [:]

    init(address: ImageAddress, answers: EarlyAnswers) { (self.address, self.answers) = (address, answers) }

    /// - Parameter format: the one that was negotiated, if any.
    func variant(in format: ImageFormat?) -> KnownVariant {
        if let known = variants[format] { return known }
        let variant = KnownVariant(address.request(in: format))
        variants[format] = variant
        return variant
    }
}

/// A variant's request and key, and the heads of its answers once there was one.
final class KnownVariant {
    let request: ImageRequest
    let key: CacheKey
    var prepared: PreparedHit?

    init(_ request: ImageRequest) { (self.request, key) = (request, request.key) }
}
