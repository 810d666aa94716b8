internal import GRDB
internal import NIOCore

/// Reads the readable values of a damaged state. Writes nothing to it.
enum StateSalvage {
    /// The largest file to search page by page. No state is larger.
    private static let limit = 256 << 20

    /// The readable values: from SQLite as far as it gets from either end, otherwise from the pages.
    static func rows(of path: String) -> [StateRow] {
        var found: [Name: StateRow] = [:]
        let isWhole = read(path) { row in found[Name(part: row.part, key: row.key)] = row }
        if !isWhole {
            for values in pages(of: path) where values.count == 3 {
                let row = StateRow(part: values[0], key: values[1], value: values[2])
                let name = Name(part: row.part, key: row.key)
                if found[name] == nil { found[name] = row }
            }
        }
        return Array(found.values)
    }

    private struct Name: Hashable {
        let part: String
        let key: String
    }

    /// - Returns: whether SQLite could read all of it.
    private static func read(_ path: String, _ visit: (StateRow) -> Void) -> Bool {
        do {
            guard try FileStatus(of: path, followingLink: true)?.isFile == true, try hasSoundCompanions(path) else { return false }
            var configuration = Configuration()
            configuration.readonly = true
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            return try queue.unsafeRead { database in
                if try read(database, order: "part, key", visit) { return true }
                // From the other end up to the damage.
                _ = try read(database, order: "part DESC, key DESC", visit)
                return false
            }
        } catch {
            return false
        }
    }

    /// Whether SQLite can open the files beside the database without blocking for ever and without using another database's log.
    private static func hasSoundCompanions(_ path: String) throws(FileFailure) -> Bool {
        guard try FileStatus(of: path + "-wal") == nil else { return false }
        return try FileStatus(of: path + "-journal")?.isFile ?? true
    }

    private static func read(_ database: Database, order: String, _ visit: (StateRow) -> Void) throws -> Bool {
        let rows = try Row.fetchCursor(database, sql: "SELECT part, key, value FROM state ORDER BY \(order)")
        do {
            while let row = try rows.next() { visit(try StateRow(row)) }
            return true
        } catch {
            return false
        }
    }

    private static func pages(of path: String) -> [[String]] {
        do {
            return SQLitePages(Array(try Files.contents(of: path, limit: limit).readableBytesView)).records()
        } catch {
            return []
        }
    }
}
