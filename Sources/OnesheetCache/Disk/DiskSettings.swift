package import OnesheetCore

/// The limits of a disk tier.
package struct DiskSettings: Sendable {
    let path: String
    let budgets: DiskBudgets
    /// The most entries of all kinds together.
    let entries: Int
    /// The bytes that stay free for other programs, whatever the budgets are.
    let minimumFreeSpace: MinimumFreeSpace
    let isSynced: Bool
    /// The fraction of a budget that eviction reaches once the budget is full.
    static let lowWater = 0.9
    /// The entries of one removal step, during which stores wait.
    static let step = 64
    /// The reads that are recorded in one transaction.
    static let noting = 1024
    /// The entries that are stored in one transaction.
    static let batch = 32
    /// The time for which an entry waits for others to be stored with it.
    package static let batchDelay = Duration.milliseconds(50)
    /// The entries that wait, and the bytes of their bodies. If the queue is full, the caller stores the entry and waits.
    static let queueLimit = 256
    static let queueBytes = 4 << 20
}

/// The bytes that each kind of entry may occupy on disk.
package struct DiskBudgets: Sendable, Equatable {
    package var original: Int
    package var variant: Int
    package var metadata: Int

    package init(original: Int, variant: Int, metadata: Int) {
        self.original = original
        self.variant = variant
        self.metadata = metadata
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

/// The space that a tier leaves free on its disk, whatever its budgets are.
package enum MinimumFreeSpace: Sendable, Equatable {
    /// A twentieth of the disk, at most a gibibyte.
    case usual
    case bytes(Int)

    /// The same in bytes, on a disk of size `all`.
    package func size(on all: Int) -> Int {
        switch self {
        case .usual: min(all / 20, 1 << 30)
        case .bytes(let bytes): bytes
        }
    }
}
