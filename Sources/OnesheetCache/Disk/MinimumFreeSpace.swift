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
