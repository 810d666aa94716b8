package import OnesheetCore

/// The bytes that each kind of entry may occupy on disk.
package struct DiskBudgets: Sendable, Equatable {
    package var original: Int
    package var variant: Int
    package var metadata: Int

    package init(original: Int, variant: Int, metadata: Int) {
        (self.original, self.variant, self.metadata) = (original, variant, metadata)
    }

    /// Divides `bytes`: 60 % for variants, which clients request, 35 % for originals, and 5 % for metadata.
    package init(bytes: Int) {
        self.init(original: bytes / 20 * 7, variant: bytes / 20 * 12, metadata: bytes / 20)
    }

    package subscript(kind: CacheKind) -> Int {
        switch kind {
        case .original: original
        case .variant: variant
        case .metadata: metadata
        }
    }

    package var total: Int { original + variant + metadata }
}
