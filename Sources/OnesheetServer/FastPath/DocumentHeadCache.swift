import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetCore
import OnesheetHTTP

/// One event loop's response heads of kept documents. Only used on its loop.
final class DocumentHeadCache {
    /// The most documents with heads, and codings. A full cache is emptied.
    private static let limit = 256
    /// Bytes of the longest `Accept-Encoding` field that is remembered.
    private static let longestCodings = 256

    private let router: Router
    private let mostBytes: Int
    private var prepared: [Key: PreparedDocument] = [:]
    private var codings: [ByteBuffer: Bool] = [:]

    private struct Key: Hashable {
        let target: ByteBuffer
        let isPacked: Bool
    }

    /// - Parameter mostBytes: the longest body that is sent at once.
    init(_ router: Router, mostBytes: Int) { (self.router, self.mostBytes) = (router, mostBytes) }

    /// The response with a document that is kept; `nil` if the router must answer.
    /// - Parameter begun: when the request was received.
    func answer(_ request: SimpleRequest, at now: Date, since begun: NIODeadline) -> ReadyResponse? {
        let key = Key(target: request.target, isPacked: acceptsPacked(request.acceptEncoding))
        guard let (prepared, kept) = known(key, at: now) ?? prepare(key, at: now) else { return nil }
        guard let condition = request.ifNoneMatch else {
            let bytes = kept.document.bytes
            prepared.entry.counter.addImmediate(.successful, bytes: request.isHead ? 0 : bytes.readableBytes, since: begun)
            return request.isHead ? .head(prepared.head) : .parts(prepared.head, .bytes(bytes))
        }
        // Almost every client sends back the entity tag as it is.
        guard condition == prepared.entityTag else { return nil }
        prepared.entry.counter.addImmediate(.redirection, bytes: 0, since: begun)
        return .head(prepared.notModified)
    }

    private func known(_ key: Key, at now: Date) -> (PreparedDocument, KeptDocument)? {
        guard let known = prepared[key] else { return nil }
        guard known.second.contains(now), let kept = known.kept, router.kept.isCurrent(kept, at: now) else {
            prepared[key] = nil
            return nil
        }
        return (known, kept)
    }

    private func prepare(_ key: Key, at now: Date) -> (PreparedDocument, KeptDocument)? {
        let target = String(buffer: key.target)
        guard let kept = router.kept.document(at: target, isPacked: key.isPacked, now),
            kept.document.bytes.readableBytes <= mostBytes
        else { return nil }
        let entry = router.table.route(target).entry
        let made = PreparedDocument(kept, entry, router.commonFields, at: now)
        if prepared.count >= Self.limit { prepared.removeAll() }
        // A copy: a slice would keep the whole read alive.
        prepared[Key(target: ByteBuffer(bytes: key.target.readableBytesView), isPacked: key.isPacked)] = made
        return (made, kept)
    }

    private func acceptsPacked(_ field: ByteBuffer?) -> Bool {
        guard let field else { return DocumentCoding.isAccepted(ContentCodings(nil)) }
        if let known = codings[field] { return known }
        let accepts = DocumentCoding.isAccepted(ContentCodings(String(buffer: field)))
        guard field.readableBytes <= Self.longestCodings else { return accepts }
        if codings.count >= Self.limit { codings.removeAll() }
        codings[ByteBuffer(bytes: field.readableBytesView)] = accepts
        return accepts
    }
}

/// The response heads of a document, for one second.
private final class PreparedDocument {
    /// Weak: `KeptDocuments` limits the bytes of all documents.
    weak let kept: KeptDocument?
    let entry: RouteTable.Entry
    let head: ResponseHead
    let notModified: ResponseHead
    /// The `ETag` field's value.
    let entityTag: ByteBuffer
    /// The period in which the heads are valid: `Date` has a resolution of one second.
    let second: Range<Date>

    init(_ kept: KeptDocument, _ entry: RouteTable.Entry, _ common: CommonFields, at now: Date) {
        (self.kept, self.entry) = (kept, entry)
        var full = kept.document.full
        full.headers[.contentLength] = "\(kept.document.bytes.readableBytes)"
        head = ResponseHead(full, common, at: now)
        notModified = ResponseHead(kept.document.notModified, common, at: now)
        entityTag = ByteBuffer(string: EntityTags.field(kept.document.validator))
        let second = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        self.second = second..<second.addingTimeInterval(1)
    }
}
