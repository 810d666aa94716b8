import FoundationEssentials
import HTTPTypes
import OnesheetCore
import OnesheetHTTP
import Synchronization

/// The last responses with a status of 500 or more, or because of an unusable original. Equal errors share an entry. In memory only,
/// bounded in number and bytes.
final class RecentErrors: Sendable {
    /// The maximum number of entries.
    static let maxEntries = 50

    struct Entry: Encodable {
        let status: Int
        let title: String
        let detail: String
        /// The path of the last request, without its query.
        var path: String
        /// The identifier of the last request in the log.
        var request: String?
        let first: Date
        var last: Date
        var count: Int
    }

    /// Oldest first.
    private let entries = Mutex<[Entry]>([])

    /// All entries, newest first.
    var all: [Entry] { entries.withLock { $0.reversed() } }

    /// Records `problem` unless it is the client's fault.
    /// - Parameter request: the identifier of the request in the log.
    func note(_ problem: Problem, at path: String, request: String?, now: Date) {
        guard problem.status.code >= 500 || problem.isOriginals else { return }
        let path = path.shortened(to: 256)
        let detail = problem.wholeDetail ?? problem.detail
        entries.withLock { entries in
            var entry = Entry(
                status: problem.status.code, title: problem.title, detail: detail, path: path,
                request: request, first: now, last: now, count: 1)
            if let index = entries.firstIndex(where: { $0.status == entry.status && $0.detail.isExactly(entry.detail) }) {
                let known = entries.remove(at: index)
                entry = Entry(
                    status: known.status, title: known.title, detail: known.detail, path: path, request: entry.request,
                    first: known.first, last: now, count: known.count + 1)
            }
            entries.append(entry)
            if entries.count > Self.maxEntries { entries.removeFirst() }
        }
    }
}
