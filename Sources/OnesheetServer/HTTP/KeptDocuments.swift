import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetHTTP
import Synchronization

/// The documents of services as they were sent last, so that an event loop can send them again without a look at the service's answer.
///
/// A document is kept for one target in one content coding, until it is stale or anything is purged.
final class KeptDocuments: Sendable {
    private static let most = 4096
    /// The longest time of a document, in seconds. If the tiers lose an answer before it is stale, its source gives a new one.
    private static let longest = 3600.0

    private let kept: Mutex<S3FIFO<KeptDocument>>
    private let coding: DocumentCoding
    private let memory: MemoryTier
    private let clock: WallClock

    /// - Parameters:
    ///   - limit: bytes of the documents that are kept.
    ///   - coding: compresses documents.
    ///   - memory: counts the purges.
    init(keeping limit: Int, _ coding: DocumentCoding, clearedBy memory: MemoryTier, clock: WallClock) {
        kept = Mutex(S3FIFO(weight: limit, count: Self.most))
        self.coding = coding
        self.memory = memory
        self.clock = clock
    }

    /// The number of purges so far.
    var purges: Int { memory.generation }

    /// Keeps a document that everyone gets.
    /// - Parameters:
    ///   - target: the path and the query of the request, as they were sent.
    ///   - seconds: how long the document is the same.
    ///   - purges: their number before the document was made.
    ///   - fields: the request's header fields.
    /// - Returns: the response to the request; `response` itself if it is no document.
    func keep(
        _ response: Response, at target: String, for seconds: Double, since purges: Int, to fields: HTTPFields
    ) async throws -> Response {
        guard seconds > 0, let document = try await DocumentResponse(response) else { return response }
        let codings = ContentCodings(fields[.acceptEncoding])
        let encoded = document.encoded(for: codings, coding)
        let made = KeptDocument(document: encoded, until: clock.now.addingTimeInterval(min(seconds, Self.longest)), purges: purges)
        let key = Self.key(target, isPacked: DocumentCoding.isAccepted(codings))
        // The header fields take about as much as the target and 512 bytes.
        let size = encoded.bytes.storageCapacity + 2 * target.utf8.count + 512
        kept.withLock { if size <= $0.weightLimit / 2 { $0.insert(made, for: key, weight: size) } }
        return encoded.answer(to: fields)
    }

    /// The document at `target` if it is still the same, for a client with these header fields.
    func document(at target: String, to fields: HTTPFields) -> EncodedDocument? {
        let isPacked = DocumentCoding.isAccepted(ContentCodings(fields[.acceptEncoding]))
        return document(at: target, isPacked: isPacked, clock.now)?.document
    }

    /// The document at `target` if it is still the same.
    /// - Parameter isPacked: whether the client accepts gzip.
    func document(at target: String, isPacked: Bool, _ now: Date) -> KeptDocument? {
        guard let known = kept.withLock({ $0.value(for: Self.key(target, isPacked: isPacked)) }) else { return nil }
        return isCurrent(known, at: now) ? known : nil
    }

    /// Whether requests still get `document`.
    func isCurrent(_ document: KeptDocument, at now: Date) -> Bool { now < document.until && document.purges == memory.generation }

    private static func key(_ target: String, isPacked: Bool) -> CacheKey { CacheKey(.metadata, "\(isPacked) \(target)") }
}

/// A document that many clients get.
final class KeptDocument: Sendable {
    let document: EncodedDocument
    fileprivate let until: Date
    /// The purges before it was made.
    fileprivate let purges: Int

    fileprivate init(document: EncodedDocument, until: Date, purges: Int) {
        self.document = document
        self.until = until
        self.purges = purges
    }
}
