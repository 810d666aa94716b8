internal import Synchronization

/// Counts removals, so that a promotion notices one that came between.
final class Removals: Sendable {
    /// Equal if no removal began between them.
    struct Moment: Equatable {
        fileprivate let begun: Int
    }

    private let counts = Mutex((begun: 0, underWay: 0))

    /// `nil` during a removal.
    var moment: Moment? { counts.withLock { $0.underWay == 0 ? Moment(begun: $0.begun) : nil } }

    func begin() {
        counts.withLock { counts in
            counts.begun += 1
            counts.underWay += 1
        }
    }

    func end() { counts.withLock { $0.underWay -= 1 } }
}
