import FoundationEssentials
import OnesheetCore

/// The position up to which a server has applied the log, and its queued purges. Survives a restart.
struct PurgeState: Sendable {
    let values: any KeyValueState

    private static let progressKey = "applied"
    private static let outboxKey = "outbox"

    private struct Progress: Codable {
        let epoch: String
        let milliseconds: Int
        let number: Int
    }

    /// The newest purge of the log that is applied to the tiers of this server. `nil` if it has never read the log. An unreadable value is
    /// that of an epoch that no log has.
    func progress() async throws -> PurgeStamp? {
        guard let text = try await values.value(for: Self.progressKey) else { return nil }
        do {
            let stored = try JSONDecoder().decode(Progress.self, from: Data(text.utf8))
            let position = LogPosition(milliseconds: stored.milliseconds, number: stored.number)
            return PurgeStamp(epoch: stored.epoch, position: position)
        } catch {
            return PurgeStamp(epoch: "", position: .start)
        }
    }

    func set(_ stamp: PurgeStamp) async throws {
        let (epoch, position) = (stamp.epoch, stamp.position)
        let progress = Progress(epoch: epoch, milliseconds: position.milliseconds, number: position.number)
        let text = String(decoding: try JSONEncoder().encode(progress), as: UTF8.self)
        try await values.set(text, for: Self.progressKey)
    }

    /// The queued purges. Several processes change it.
    struct Outbox: Sendable, Equatable, Codable {
        /// The number of the newest addition. An addition is removed by its number, so that one that came meanwhile stays.
        private(set) var newest = 0
        private var all: Int?
        private var tags: [CacheTag: Int] = [:]

        var isEmpty: Bool { all == nil && tags.isEmpty }
        var scope: PurgeScope { all == nil ? PurgeScope(tags.keys) : .all }

        mutating func add(_ scope: PurgeScope) {
            newest += 1
            var sum = self.scope
            sum.add(scope)
            if sum.isAll {
                (all, tags) = (newest, [:])
            } else {
                for tag in scope.elements { tags[tag] = newest }
            }
        }

        /// Removes what `sent` had, except what was added since.
        mutating func remove(_ sent: Outbox) {
            if let all, all <= sent.newest { self.all = nil }
            tags = tags.filter { $0.value > sent.newest }
        }
    }

    /// An unreadable outbox may have had anything.
    func outbox() async throws -> Outbox { Self.outbox(try await values.value(for: Self.outboxKey)) }

    @discardableResult
    func changeOutbox(_ change: @escaping @Sendable (inout Outbox) -> Void) async throws -> Outbox {
        try await values.update(Self.outboxKey) { text in
            var outbox = Self.outbox(text)
            change(&outbox)
            // The number stays when it is empty: another process may still hold an older outbox.
            text = String(decoding: try JSONEncoder().encode(outbox), as: UTF8.self)
            return outbox
        }
    }

    private static func outbox(_ text: String?) -> Outbox {
        guard let text else { return Outbox() }
        do {
            return try JSONDecoder().decode(Outbox.self, from: Data(text.utf8))
        } catch {
            var outbox = Outbox()
            outbox.add(.all)
            return outbox
        }
    }
}
