import OnesheetCore
import Synchronization

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// Names and the addresses of each lookup in turn; the last are repeated.
final class TableResolver: NameResolver {
    private let table: Mutex<[String: [[String]]]>

    init(_ table: [String: [[String]]]) { self.table = Mutex(table) }

    func addresses(of name: String) async throws(ResolveError) -> [IPAddress] {
        let texts = table.withLock { table -> [String]? in
            guard let lists = table[name] else { return nil }
            if lists.count > 1 { table[name]?.removeFirst() }
            return lists.first
        }
        guard let texts else { throw .unknown }
        return texts.compactMap { IPAddress($0) }
    }

    func shutdown() {}
}
