import Synchronization

/// Limits the number of things of one kind that exist at the same time, such as requests that wait for an image.
///
/// An address may have at most as many as are still free, so a few addresses cannot take all of them: n busy addresses get equal
/// shares and leave one such share free (dynamic thresholds; Choudhury and Hahne, 1998). While hundreds of addresses are busy, that
/// share is tiny. So an address may always have two, as long as any is free.
final class FairLimit: Sendable {
    /// The number that an address may have although fewer are free.
    static let least = 2

    let limit: Int
    private let state = Mutex<(total: Int, byAddress: [ClientAddress: Int])>((0, [:]))

    init(_ limit: Int) { self.limit = limit }

    /// Allows as many things as fit into `bytes`, and at least 64.
    /// - Parameter each: the bytes of one thing.
    convenience init(bytes: Int, each: Int) { self.init(max(64, bytes / each)) }

    /// Counts one more thing, unless the limit or the share of `address` is reached. Once the thing is gone, call `end`.
    /// - Parameter address: `nil` if it is unknown, such as behind a proxy that does not name it. Then only the limit of all applies.
    /// - Returns: whether the thing was counted.
    func begin(_ address: ClientAddress?) -> Bool {
        state.withLock { state in
            let free = limit - state.total
            guard free > 0 else { return false }
            if let address {
                guard state.byAddress[address, default: 0] < max(free, Self.least) else { return false }
                state.byAddress[address, default: 0] += 1
            }
            state.total += 1
            return true
        }
    }

    /// Stops counting a thing that `begin` counted.
    func end(_ address: ClientAddress?) {
        state.withLock { state in
            state.total -= 1
            guard let address, let count = state.byAddress[address] else { return }
            state.byAddress[address] = count > 1 ? count - 1 : nil
        }
    }
}
