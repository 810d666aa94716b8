import Foundation
import OnesheetCore
import OnesheetTransport
import Synchronization

extension SystemResolver {
    /// Answers from a table: names, and the addresses of each lookup in turn, of which the last are repeated. It remembers none, because a
    /// minute passes each time it looks at its clock.
    static func table(_ table: [String: [[String]]]) -> SystemResolver {
        let names = TableOfNames(table)
        return SystemResolver(threads: (1, 1), clock: WallClock { names.nextMinute() }) { name in
            names.next(of: name).compactMap { IPAddress($0) }
        }
    }
}

private final class TableOfNames: Sendable {
    private let rows: Mutex<[String: [[String]]]>
    private let minutes = Atomic(0)

    init(_ rows: [String: [[String]]]) { self.rows = Mutex(rows) }

    func nextMinute() -> Date { Date(timeIntervalSince1970: Double(minutes.add(1, ordering: .relaxed).newValue) * 60) }

    func next(of name: String) -> [String] {
        rows.withLock { rows in
            guard let lists = rows[name] else { return [] }
            if lists.count > 1 { rows[name]?.removeFirst() }
            return lists.first ?? []
        }
    }
}
