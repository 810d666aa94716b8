internal import GRDB
internal import OnesheetCore
internal import Synchronization

/// Remembers the values that were read last, absent ones included, while the file is unchanged. Any process may change it, and its status
/// shows that.
///
/// Visitors can name titles without end, so the values of all titles of a source are read and remembered together, if they are few.
final class StateMemory: Sendable {
    /// Keys with the same beginning up to `://`, or a single key without one.
    struct Group: Hashable {
        private static let separator = "://"
        let part: ExactText
        private let beginning: ExactText
        private let isSingle: Bool

        init(of key: String, in part: String) {
            self.part = ExactText(part)
            let end = key.firstRange(ofBytesOf: Self.separator)?.upperBound
            beginning = ExactText(key[..<(end ?? key.endIndex)])
            isSingle = end == nil
        }

        /// All values, by their keys; `nil` if they are too many.
        func values(in database: Database) throws -> [ExactText: String]? {
            let (first, condition) = (beginning.description, isSingle ? "key = ?" : "key >= ? AND key < ?")
            // The last byte of the beginning is a slash, and the next one in order is a zero.
            let end = isSingle ? [] : ["\(first.dropLast())0"]
            let rows = try Row.fetchCursor(
                database, sql: "SELECT key, value FROM state WHERE part = ? AND \(condition)",
                arguments: StatementArguments([part.description, first] + end))
            var values: [ExactText: String] = [:]
            var bytes = 0
            while let row = try rows.next() {
                let (key, value): (String, String) = (try row.decode(forColumn: "key"), try row.decode(forColumn: "value"))
                bytes += key.utf8.count + value.utf8.count
                values[ExactText(key)] = value
                guard values.count <= StateMemory.mostValues, bytes <= StateMemory.mostBytes else { return nil }
            }
            return values
        }
    }

    private struct State {
        var status: FileStatus?
        var groups: [Group: [ExactText: String]] = [:]
        /// Groups with too many values. Looking at them again after each change would cost more than it could save.
        var large: Set<Group> = []
    }

    private static let mostGroups = 64
    private static let mostValues = 64
    /// Of one group.
    private static let mostBytes = 64 << 10

    private let state = Mutex(State())

    /// The values for `keys`; `nil` if they are not known for a file with this status.
    func values(for keys: [String], of part: String, at status: FileStatus) -> [String?]? {
        state.withLock { state in
            guard state.status == status else { return nil }
            var values: [String?] = []
            for key in keys {
                guard let group = state.groups[Group(of: key, in: part)] else { return nil }
                values.append(group[ExactText(key)])
            }
            return values
        }
    }

    /// Reads the values for `keys`, and remembers their groups.
    /// - Parameters:
    ///   - database: in a transaction, so that no process changes the file meanwhile.
    ///   - status: the status of its file, if any change of the file changes it.
    func read(
        _ keys: [String], of part: String, in database: Database, status: () -> FileStatus?
    ) throws -> [String?] {
        var read: [Group: [ExactText: String]] = [:]
        var large = state.withLock { $0.large }
        let values = try keys.map { key in
            let group = Group(of: key, in: part)
            if let known = read[group] { return known[ExactText(key)] }
            if !large.contains(group) {
                if let values = try group.values(in: database) {
                    read[group] = values
                    return values[ExactText(key)]
                }
                large.insert(group)
            }
            return try StateRow.value(for: key, of: part, in: database)
        }
        // A write-ahead log would have the changes instead of the file. Another program may have set one up.
        let hasLog = try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
        remember(read, large: large, at: hasLog ? nil : status())
        return values
    }

    private func remember(_ groups: [Group: [ExactText: String]], large: Set<Group>, at status: FileStatus?) {
        state.withLock { state in
            state.large = large.count <= Self.mostGroups ? large : []
            if state.status != status || state.groups.count + groups.count > Self.mostGroups { state.groups = [:] }
            state.status = status
            if status != nil { state.groups.merge(groups) { _, new in new } }
        }
    }
}
