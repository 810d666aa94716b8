import Foundation
import GRDB

/// An index that the test changes from outside.
struct SQLiteFile {
    private let path: String

    init(_ file: URL) { path = file.path }

    func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }
}
