import OnesheetCore
import OnesheetPipeline

/// A request target that has been understood, with what was prepared for each format that it was answered in.
final class KnownTarget {
    /// The target as text.
    let path: String
    let address: ImageAddress
    private var variants: [ImageFormat?: KnownVariant] = [:]

    init(path: String, address: ImageAddress) { (self.path, self.address) = (path, address) }

    /// - Parameter format: the one that was negotiated, if any.
    func variant(in format: ImageFormat?) -> KnownVariant {
        if let known = variants[format] { return known }
        var transform = address.transform
        if let format { transform.format = format }
        let variant = KnownVariant(key: ImageRequest(address.title, transform).key)
        variants[format] = variant
        return variant
    }
}

/// A variant's key, and the heads of its answers once there was one.
final class KnownVariant {
    let key: CacheKey
    var prepared: PreparedHit?

    init(key: CacheKey) { self.key = key }
}
