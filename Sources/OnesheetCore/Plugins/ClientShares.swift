import Synchronization

/// How much of a token bucket each client uses. A client may use at most as much as is left, so a few clients cannot take all of it: n busy
/// clients get equal shares and leave one such share free (dynamic thresholds; Choudhury and Hahne, 1998). A client may always have two
/// calls, as long as any is left.
///
/// The bucket gives back to each client what it gives back to all, so a client that asks on gets at most what comes free.
final class ClientShares: Sendable {
    /// The calls that a client may have although fewer are left.
    private static let least = 2.0
    /// The most remembered clients. Beyond it, the one that used least is forgotten.
    static let capacity = 512

    /// When each client will use nothing, in seconds since 1970.
    private let emptyAt = Mutex<[ClientKey: Double]>([:])

    /// Counts a call of the one of `clients` that uses least, if it may make one. A call without a client always may.
    /// - Parameter left: the calls that are left in the bucket.
    /// - Returns: the time at which it may; `nil` is now.
    func spend(for clients: [ClientKey], left: Double, of bucket: TokenBucket, at now: Double) -> Double? {
        guard !clients.contains(.anonymous) else { return nil }
        return emptyAt.withLock { emptyAt in
            let known = clients.map { (client: $0, used: Self.used(until: emptyAt[$0] ?? 0, of: bucket, at: now)) }
            guard let least = known.min(by: { $0.used < $1.used }) else { return nil }
            guard least.used < max(left, Self.least) else {
                // What it used shrinks as fast as what is left grows.
                return now + max(1, (least.used - left) / 2 * bucket.interval)
            }
            if emptyAt[least.client] == nil, emptyAt.count >= Self.capacity {
                emptyAt = emptyAt.filter { $0.value > now }
                if emptyAt.count >= Self.capacity, let first = emptyAt.min(by: { $0.value < $1.value }) { emptyAt[first.key] = nil }
            }
            emptyAt[least.client] = now + (least.used + 1) * bucket.interval
            return nil
        }
    }

    private static func used(until end: Double, of bucket: TokenBucket, at now: Double) -> Double {
        guard end > now, bucket.interval > 0 else { return 0 }
        let used = (end - now) / bucket.interval
        // More than there is was counted before the clock was set back.
        return used <= bucket.capacity + 1 ? used : 0
    }
}
