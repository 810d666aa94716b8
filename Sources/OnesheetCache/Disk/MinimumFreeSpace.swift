/// How much of its disk a tier leaves free for others, whatever its budgets say.
package enum MinimumFreeSpace: Sendable, Equatable {
    /// A twentieth of the disk, at most a gibibyte.
    case usual
    case bytes(Int)

    /// How many bytes that is, on a disk that has `all`.
    package func size(on all: Int) -> Int {
        switch self {
        case .usual: min(all / 20, 1 << 30)
        case .bytes(let bytes): bytes
        }
    }
}
