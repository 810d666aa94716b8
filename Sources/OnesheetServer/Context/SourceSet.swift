import OnesheetCore
import Synchronization

/// The sources of a configuration, each made once and by its name, because sources may be made of others.
final class SourceSet: Sendable {
    /// Makes a source that finds others by the function.
    typealias Make =
        @Sendable (_ nested: NestedSource, _ name: String, _ find: @escaping @Sendable (String) throws -> any ContentSource) throws
        -> Made

    /// A source, and the same as other sources ask it.
    struct Made {
        let source: any ContentSource
        let member: any ContentSource
    }

    private struct State {
        var made: [String: Made] = [:]
        /// The names of the sources that are being made, each for the one before it.
        var underWay: [String] = []
    }

    private let configured: [String: NestedSource]
    private let make: Make
    private let state = Mutex(State())

    init(_ configured: [String: NestedSource], make: @escaping Make) {
        self.configured = configured
        self.make = make
    }

    /// The source that the configuration calls `name`.
    /// - Throws: `ConfigurationError`.
    func source(_ name: String) throws(ConfigurationError) -> any ContentSource {
        do { return try made(name).source } catch { throw ConfigurationError(error) }
    }

    private func made(_ name: String) throws -> Made {
        if let known = state.withLock({ $0.made[name] }) { return known }
        guard let nested = configured[name] else {
            throw ConfigurationError(path: "", message: unknownName(name, kind: "source", known: configured.keys))
        }
        let circle = state.withLock { state -> [String]? in
            guard let start = state.underWay.firstIndex(of: name) else {
                state.underWay.append(name)
                return nil
            }
            return state.underWay[start...] + [name]
        }
        if let circle {
            throw ConfigurationError(path: "", message: "a source cannot be made of itself: \(circle.joined(separator: " → "))")
        }
        defer { state.withLock { _ = $0.underWay.popLast() } }
        let made = try make(nested, name) { [weak self] member in
            // Sources keep what finds others, and would keep each other for ever.
            guard let self else { throw ConfigurationError(path: "", message: "other sources are found in the initializer only") }
            do { return try self.made(member).member } catch let error as ConfigurationError where !error.path.isEmpty {
                // Its own place in the file would otherwise be read as one within this source.
                throw ConfigurationError(path: "", message: "“\(member)” cannot be used: \(error)")
            }
        }
        state.withLock { $0.made[name] = made }
        return made
    }
}
