import OnesheetAddress
import OnesheetCore
import OnesheetPipeline

/// A request target that has been understood, with what was prepared for each format that it was answered in.
final class KnownTarget {
    let address: ImageAddress
    /// Where its answers are counted.
    let answers: EarlyAnswers
    private let installation: Installation
    private var variants: [ImageFormat?: KnownVariant] = [:]

    init(address: ImageAddress, answers: EarlyAnswers, in installation: Installation) {
        (self.address, self.answers, self.installation) = (address, answers, installation)
    }

    /// - Parameter format: the one that was negotiated, if any.
    func variant(in format: ImageFormat?) -> KnownVariant {
        if let known = variants[format] { return known }
        let request = address.request(in: format)
        let variant = KnownVariant(request.key, installation.facts(of: address, for: request))
        variants[format] = variant
        return variant
    }
}

/// A variant's key, and the heads of its answers once there was one.
final class KnownVariant {
    let key: CacheKey
    let facts: AddressFacts
    var prepared: PreparedHit?

    init(_ key: CacheKey, _ facts: AddressFacts) { (self.key, self.facts) = (key, facts) }
}
