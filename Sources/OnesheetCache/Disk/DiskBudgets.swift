package import OnesheetCore

/// How many bytes each kind of entry may take on disk.
package struct DiskBudgets: Sendable, Equatable {
    package var original: Int
    package var variant: Int
    package var metadata: Int

    package init(original: Int, variant: Int, metadata: Int) {
        (self.original, self.variant, self.metadata) = (original, variant, metadata)
    }

    /// Divides `bytes`: six tenths for variants, which are asked for, three and a half for originals, the rest for metadata.
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
