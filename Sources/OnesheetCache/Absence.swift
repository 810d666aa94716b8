internal import FoundationEssentials
internal import NIOCore
package import OnesheetCore

/// That something is not to be had, remembered for a short while, so that not every request asks for it in vain again.
///
/// It is kept under keys of its own, as metadata: no look-up of an image ever finds it, and nothing is ever cached in an image's place.
package struct Absence: Sendable, Equatable, Codable {
    /// Why, and so for how long.
    package enum Reason: String, Sendable, Codable, CaseIterable {
        /// There is no such title, or it has no poster: minutes.
        case notFound
        /// What the origin sends is no picture that can be used: minutes.
        case unusable
        /// The origin or the source refuses us: a minute.
        case refused
        /// The origin or the source failed, or was too slow: seconds.
        case failed

        /// For how long it is remembered where nothing else is said.
        package var lifetime: CacheExpiration {
            switch self {
            case .notFound, .unusable: .seconds(300)
            case .refused: .seconds(60)
            case .failed: .seconds(5)
            }
        }
    }

    package let reason: Reason
    /// What the one who asks is told.
    package let detail: String

    package init(_ reason: Reason, detail: String) {
        (self.reason, self.detail) = (reason, detail)
    }
}

/// What is known not to be there, in memory alone: after a restart everything is tried anew.
package struct Absences: Sendable {
    private let memory: MemoryTier
    private let clock: WallClock
    private let lifetime: @Sendable (Absence.Reason) -> CacheExpiration

    package init(
        in memory: MemoryTier, clock: WallClock = .system,
        lifetime: @escaping @Sendable (Absence.Reason) -> CacheExpiration = { $0.lifetime }
    ) {
        (self.memory, self.clock, self.lifetime) = (memory, clock, lifetime)
    }

    /// Why there is nothing under `key`, at once; `nil` where that is not known.
    package func absence(for key: CacheKey) -> Absence? {
        memory.entryNow(for: Self.key(key)).flatMap { entry in
            entry.notes["reason"].flatMap(Absence.Reason.init(rawValue:)).map { Absence($0, detail: String(buffer: entry.body)) }
        }
    }

    /// Remembers that there is nothing under `key`.
    /// - Parameter lifetime: for how long, where the origin said so itself, by `Retry-After` for example.
    package func note(_ absence: Absence, for key: CacheKey, lifetime: CacheExpiration? = nil, tags: [CacheTag] = []) {
        let body = ByteBuffer(string: absence.detail)
        let now = clock.now
        // A date and not a length of time: asking for it again and again must not extend it, whatever the tier does for others.
        let end = (lifetime ?? self.lifetime(absence.reason)).moment(from: now)
        memory.storeNow(
            CacheEntry(
                body: body, mediaType: "text/plain", validator: Validator.of(body), created: now,
                cacheTime: end.map { .date($0) } ?? .never, tags: tags, notes: ["reason": absence.reason.rawValue]),
            for: Self.key(key))
    }

    /// Forgets it: what was absent has been stored.
    package func forget(_ key: CacheKey) { memory.removeNow(Self.key(key)) }

    private static func key(_ key: CacheKey) -> CacheKey { CacheKey(.metadata, "absent/\(key)") }
}
