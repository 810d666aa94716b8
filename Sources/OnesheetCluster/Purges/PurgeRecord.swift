import FoundationEssentials
import NIOCore
import OnesheetCore

/// A purge as a record of the log: one JSON object with a version.
///
/// A record that this version cannot read counts as a purge of everything: nothing that was purged is served, whatever it said.
struct PurgeRecord: Sendable, Equatable {
    /// The process that has done the purge, so that it does not repeat it. Empty if all have to do it.
    let process: String
    let scope: PurgeScope
    /// The loss of records that a purge of everything follows; `nil` for all other purges.
    let loss: String?

    /// The bytes of tags in one record. A purge with more becomes several records.
    private static let mostBytes = 32 << 10
    /// A longer record is not of this version.
    private static let longest = 4 << 20

    private struct Document: Codable {
        var version = 1
        let process: String
        let all: Bool?
        let tags: [String]?
        var loss: String?
    }

    private init(process: String, scope: PurgeScope, loss: String? = nil) {
        self.process = process
        self.scope = scope
        self.loss = loss
    }

    /// Reads a record of the log.
    init(_ text: String) {
        self = Self.read(text) ?? PurgeRecord(process: "", scope: .all)
    }

    private static func read(_ text: String) -> PurgeRecord? {
        guard text.utf8.count <= longest else { return nil }
        let document: Document
        do { document = try Document(readingJSON: ByteBuffer(string: text)) } catch { return nil }
        let scope = document.all == true ? PurgeScope.all : PurgeScope((document.tags ?? []).map { CacheTag($0) })
        guard document.version == 1, !scope.isEmpty else { return nil }
        return PurgeRecord(process: document.process, scope: scope, loss: document.loss)
    }

    /// The records that tell of a purge, each of limited size.
    /// - Parameter process: the process that has done it; empty if none has.
    static func texts(of scope: PurgeScope, by process: String, after loss: String? = nil) throws -> [String] {
        if scope.isAll { return [try text(Document(process: process, all: true, tags: nil, loss: loss))] }
        var texts: [String] = []
        var (part, bytes) = ([String](), 0)
        // Notices first: a server that reads only the first record knows of a decision before it purges what follows from it.
        for tag in (scope.notices + scope.elements.filter { $0.notice == nil }).map(\.description) {
            if !part.isEmpty, bytes + tag.utf8.count > mostBytes {
                texts.append(try text(Document(process: process, all: nil, tags: part)))
                (part, bytes) = ([], 0)
            }
            part.append(tag)
            bytes += tag.utf8.count
        }
        if !part.isEmpty { texts.append(try text(Document(process: process, all: nil, tags: part))) }
        return texts
    }

    private static func text(_ document: Document) throws -> String {
        String(decoding: try JSONEncoder().encode(document), as: UTF8.self)
    }
}
