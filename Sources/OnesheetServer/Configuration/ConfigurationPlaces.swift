package import OnesheetCore
import Yams

/// The places of a configuration's keys in its file.
package struct ConfigurationPlaces: Sendable {
    /// `nil` for a text without a file.
    var file: String?
    /// Positions of keys and of values by path. Lines and columns count from 1.
    private var keys: [String: Position] = [:]
    private var values: [String: Position] = [:]
    /// The variables of the environment that give keys which the file does not have, by path.
    var variables: [String: String] = [:]

    package struct Position: Sendable, Comparable {
        let line: Int
        let column: Int

        init(_ mark: Mark?) {
            line = mark?.line ?? 1
            column = mark?.column ?? 1
        }

        package static func < (one: Self, other: Self) -> Bool { (one.line, one.column) < (other.line, other.column) }
    }

    init() {}

    mutating func note(key: Node, at path: String) {
        if variable(at: path) == nil { keys[path] = Position(key.mark) }
    }

    mutating func note(value: Node, at path: String) {
        if variable(at: path) == nil { values[path] = Position(value.mark) }
    }

    /// The variable that gives the value at `path`, or that around it.
    private func variable(at path: String) -> String? {
        if variables.isEmpty { return nil }
        var path = path
        while true {
            if let variable = variables[path] { return variable }
            guard let (outer, _) = path.cut(atLast: ".") else { return nil }
            path = String(outer)
        }
    }

    /// The position of the key that is wrong itself, or of the value, or of the innermost section around it.
    /// - Returns: `nil` if nothing of the path is in the file.
    private func position(of error: ConfigurationError) -> Position? {
        if let key = error.key, let position = keys[Self.join(error.path, key)] { return position }
        var path = error.path
        while true {
            if let position = values[path] ?? keys[path] { return position }
            guard let (outer, _) = path.cut(atLast: ".") else { return nil }
            path = String(outer)
        }
    }

    /// The error with its file, line and column, or its variable of the environment, unless it has them already.
    package func locating(_ error: ConfigurationError) -> ConfigurationError {
        guard error.place == nil else { return error }
        var located = error
        if let variable = variable(at: error.path) {
            located.place = variable
            return located
        }
        guard let file else { return error }
        located.place = (position(of: error) ?? values[""]).map { "\(file):\($0.line):\($0.column)" } ?? file
        return located
    }

    /// The same with any error that is one of the configuration.
    package func locating(_ error: any Error) -> any Error {
        (error as? ConfigurationError).map { locating($0) as any Error } ?? error
    }

    /// The errors with their places, in the order of the file. Keys that are missing from the file come last.
    func locating(all errors: [ConfigurationError]) -> [ConfigurationError] {
        let found = errors.enumerated().map { (error: $1, position: position(of: $1), index: $0) }
        return found.sorted { one, other in
            guard let first = one.position, let second = other.position, first != second else {
                return (one.position == nil ? 1 : 0, one.index) < (other.position == nil ? 1 : 0, other.index)
            }
            return first < second
        }.map { locating($0.error) }
    }

    /// The path of `key` below `path`.
    static func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}
