import FoundationEssentials
package import Logging
import NIOCore
import OnesheetCache
import OnesheetCore

/// Small texts that several servers share, as objects of the store of their shared tier. They change by compare-and-swap, so of two
/// servers that change one at the same time, neither change is lost.
///
/// The objects are under `{prefix}/state/`, where no purge of the shared tier finds them. Invalid objects are logged and treated as
/// absent.
package final class SharedValues: Sendable {
    private let tier: SharedTier
    private let logger: Logger
    private let folder: String

    /// The attempts of one change, and the time after which no other begins.
    private static let attempts = 12
    private static let longestChange = Duration.seconds(20)
    /// The most values that a list returns.
    package static let mostNames = 100_000

    /// - Parameter tier: the tier on the same store. Its calls have deadlines and metrics.
    package init(_ tier: SharedTier, logger: Logger) {
        self.tier = tier
        self.logger = logger
        folder = "\(tier.settings.prefix)/state/"
    }

    /// A name for the value of a text of any length.
    package static func name(of text: String, in folder: String) -> String {
        let digest = Digest128(of: text.utf8).hex
        return "\(folder)/\(digest.prefix(2))/\(digest)"
    }

    /// Whether the store can keep values for several servers: whether it checks the conditions of writes. Tries it if that is not known.
    package func isUsable() async throws(SharedValueError) -> Bool {
        if let known = tier.abilities { return known.hasConditions }
        do throws(StoreError) { return try await tier.probe().hasConditions } catch {
            throw .unavailable(reason: "\(error)")
        }
    }

    /// The value; `nil` if there is no valid one.
    /// - Parameter isPatient: whether to wait longer, and also while the store is left alone after failures.
    package func value(_ name: String, isPatient: Bool = true) async throws(SharedValueError) -> String? {
        switch try await read(name, isRequest: !isPatient) {
        case .value(let value, revision: _): return value.text
        case .absent, .unreadable: return nil
        }
    }

    /// The names of all values below `prefix`, at most `mostNames`.
    package func names(below prefix: String) async throws(SharedValueError) -> [String] {
        var names: [String] = []
        do throws(CacheError) {
            try await tier.forEachPage(below: folder + prefix) { page throws(CacheError) in
                for item in page where names.count < Self.mostNames {
                    names.append(String(decoding: item.name.utf8.dropFirst(folder.utf8.count), as: UTF8.self))
                }
            }
        } catch {
            throw .unavailable(reason: "\(error)")
        }
        return names
    }

    /// Changes a value.
    /// - Parameter body: the new value from the present one, which is `nil` if there is none that checks. It is called again if another
    ///   server came before. `nil` leaves everything as it is, and so does an error, which is passed on.
    /// - Returns: the value afterwards.
    /// - Throws: `SharedValueError`, or an error of `body`.
    @discardableResult
    package func change(_ name: String, _ body: @Sendable (String?) throws -> String?) async throws -> String? {
        let write = UUID().uuidString
        let end = ContinuousClock.now + Self.longestChange
        var failure: SharedValueError?
        for attempt in 1...Self.attempts {
            var (present, condition) = (String?.none, StoreCondition.absent)
            switch try await read(name, isRequest: false) {
            case .absent: break
            case .value(let value, let revision):
                // The answer to an earlier attempt was lost.
                if value.write.isExactly(write) { return value.text }
                (present, condition) = (value.text, .revision(revision))
            case .unreadable(let reason, let revision):
                guard let revision else { throw SharedValueError.unreadable(name: folder + name, reason: reason) }
                condition = .revision(revision)
            }
            guard let text = try body(present) else { return present }
            if let present, present.isExactly(text) { return present }
            do {
                if try await put(SharedValue(text: text, write: write), as: name, if: condition) { return text }
            } catch {
                // It may have arrived: the next read tells.
                if let failure { throw failure }
                failure = error
            }
            guard ContinuousClock.now < end else { break }
            guard await sleepUnlessCancelled(for: .milliseconds(Int.random(in: 0...(10 * attempt)))) else { break }
        }
        throw failure ?? SharedValueError.contended
    }

    private enum Reading: Sendable {
        case absent
        case value(SharedValue, revision: String)
        /// - Parameter revision: `nil` if the object must not be replaced.
        case unreadable(String, revision: String?)

        var outcome: String {
            switch self {
            case .absent: "miss"
            case .value: "hit"
            case .unreadable: "damaged"
            }
        }
    }

    private func read(_ name: String, isRequest: Bool) async throws(SharedValueError) -> Reading {
        let reading: Reading
        do throws(StoreCalls.Failure) {
            reading = try await tier.calls.call(.get, isRequest: isRequest, outcome: { $0.outcome }) {
                [tier, folder] () async throws(StoreError) -> Reading in
                let object: StoredObject?
                do throws(StoreError) {
                    object = try await tier.store.object(folder + name, limit: SharedValue.longest)
                } catch {
                    guard case .tooLarge = error else { throw error }
                    return .unreadable("it has more than \(SharedValue.longest) bytes", revision: nil)
                }
                guard let object else { return .absent }
                tier.calls.count { $0.bytesRead += object.body.readableBytes }
                do throws(SharedValue.Damage) {
                    return .value(try SharedValue(object.body, named: name), revision: object.revision)
                } catch {
                    switch error {
                    case .damaged: return .unreadable("it is damaged", revision: object.revision)
                    case .laterVersion: return .unreadable("a later version has written it", revision: nil)
                    }
                }
            }
        } catch {
            throw SharedValueError(error, "read")
        }
        if case .unreadable(let reason, revision: _) = reading {
            tier.calls.count { $0.damaged += 1 }
            logger.warning("an object of the shared store is ignored: \(reason)", metadata: ["object": "\(folder)\(name)"])
        }
        return reading
    }

    private func put(_ value: SharedValue, as name: String, if condition: StoreCondition) async throws(SharedValueError) -> Bool {
        let body = value.object(named: name)
        guard body.readableBytes <= SharedValue.longest else {
            throw .unreadable(name: folder + name, reason: "it would have more than \(SharedValue.longest) bytes")
        }
        do throws(StoreCalls.Failure) {
            return try await tier.put(body, as: folder + name, if: condition, isRequest: false)
        } catch {
            throw SharedValueError(error, "write")
        }
    }
}

/// Why a shared value cannot be read or changed.
package enum SharedValueError: Error, Sendable, Equatable {
    /// The store cannot be used now.
    case unavailable(reason: String)
    /// Other servers have changed the value each time.
    case contended
    /// The object must not be replaced: the reason.
    case unreadable(name: String, reason: String)

    init(_ failure: StoreCalls.Failure, _ operation: String) {
        self = .unavailable(reason: failure.cacheError(operation).description)
    }
}

extension SharedValueError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unavailable(let reason): reason
        case .contended: "other servers have changed it each time"
        case .unreadable(let name, let reason): "the object \(name) cannot be replaced: \(reason)"
        }
    }
}
