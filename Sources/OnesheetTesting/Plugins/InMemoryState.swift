public import OnesheetCore
internal import Synchronization

/// A plugin's state with the lifetime of the object. Pass the same one to two plugins to simulate a restart.
public final class InMemoryState: KeyValueState {
    private struct Contents {
        var values: [String: String]
        var failure: String?
    }

    /// The state cannot be read or written.
    public struct Broken: Error, CustomStringConvertible {
        public let description: String
    }

    private let contents: Mutex<Contents>

    public init(_ values: [String: String] = [:]) { contents = Mutex(Contents(values: values)) }

    /// All values by key.
    public var values: [String: String] { contents.withLock { $0.values } }

    /// Makes reads and writes throw; `nil` ends that.
    public func fail(_ reason: String?) { contents.withLock { $0.failure = reason } }

    public func value(for key: String) async throws -> String? {
        try contents.withLock { contents in
            if let failure = contents.failure { throw Broken(description: failure) }
            return contents.values[key]
        }
    }

    public func set(_ value: String?, for key: String) async throws {
        try contents.withLock { contents in
            if let failure = contents.failure { throw Broken(description: failure) }
            contents.values[key] = value
        }
    }

    public func update<Answer: Sendable>(
        _ key: String, _ body: @escaping @Sendable (inout String?) throws -> Answer
    ) async throws -> Answer {
        try contents.withLock { contents in
            if let failure = contents.failure { throw Broken(description: failure) }
            return try body(&contents.values[key])
        }
    }
}
