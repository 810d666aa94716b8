internal import GRDB
internal import NIOCore

/// Reads what can be read of a state that is damaged. Nothing is written to it.
enum StateSalvage {
    /// More bytes are not looked through page by page: no state of ours is as large.
    private static let limit = 256 << 20

    /// The values that can be read, by SQLite as far as it gets from either end, and else from the pages that are left of the file.
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
                // From the other end up to where it is broken.
                _ = try read(database, order: "part DESC, key DESC", visit)
                return false
            }
        } catch {
            return false
        }
    }

    /// Whether SQLite can open what it keeps beside the file without waiting for ever, and without taking another database's log for
    /// this one's.
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
