import OnesheetHTTP
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// The heads with which an entry in memory is answered, written once for all requests of one second.
///
/// They are made by the code that answers ordinary requests, so that both ways say the same.
final class PreparedHit {
    /// The whole answer's head, with its empty line.
    let head: ByteBuffer
    /// The head of “you have it already”, if somebody could have it.
    private(set) var notModified: ByteBuffer?
    /// Where the body is, if it is sent from a file that is kept open.
    private(set) var file: ReadyFile?
    /// Head and body in a file of memory, if that is worth it.
    private var whole: ReadyFile?
    private var uses = 0
    private let entityTag: ByteBuffer
    private let lastModified: ByteBuffer
    private let validator: String
    private let tier: String
    /// While the heads are right.
    private let time: Range<Date>

    /// - Parameters:
    ///   - now: the present moment. The heads hold until its second is over, or until the entry is not fresh any more.
    /// - Returns: `nil` unless the entry is fresh.
    init?(_ hit: CacheHit, at now: Date, _ cors: CORS, _ facts: AddressFacts) {
        guard let answer = ImageAnswer(freshHit: hit, at: now) else { return nil }
        let image = ImageResponse(answer: answer, address: facts)
        var full = image.response(to: .get, [:], at: now)
        full.headers[.contentLength] = "\(answer.size)"
        let tag = full.headers[.eTag] ?? ""
        head = full.head(cors, at: now)
        entityTag = ByteBuffer(string: tag)
        lastModified = ByteBuffer(string: full.headers[.lastModified] ?? "")
        (validator, tier) = (hit.entry.validator, hit.tier)
        time = now.second.clamped(to: .distantPast..<answer.freshUntil)
    }

    /// Whether the heads are right for `hit` at `now`.
    func isGood(for hit: CacheHit, at now: Date) -> Bool {
        isGood(at: now) && validator == hit.entry.validator && tier == hit.tier
    }

    /// Whether the heads are right at `now` for the entry that they were made for.
    func isGood(at now: Date) -> Bool { time.contains(now) }

    /// Adds the head for whoever has the entry already: few ask.
    func addNotModified(_ hit: CacheHit, at now: Date, _ cors: CORS, _ facts: AddressFacts) {
        guard notModified == nil, let answer = ImageAnswer(freshHit: hit, at: now) else { return }
        let image = ImageResponse(answer: answer, address: facts)
        notModified = image.response(to: .get, [.ifNoneMatch: String(buffer: entityTag)], at: now).head(cors, at: now)
    }

    func keep(_ file: ReadyFile, in kept: KeptOpen) {
        if kept.keep(self, length: file.region.readableBytes) { self.file = file }
    }

    /// The whole answer as one file, once it was asked for so often that writing the file has been worth it.
    func whole(with body: HitBody, in kept: KeptOpen) -> ReadyFile? {
        if let whole { return whole }
        uses += 1
        // Sending saves about a fifth of what writing takes. Where there was no room or no memory, there may be some later.
        guard uses.isMultiple(of: 8) else { return nil }
        whole = kept.memoryFile(head, body, for: self)
        return whole
    }

    func closeFiles() { (file, whole) = (nil, nil) }

    /// Whether the client has these bytes; `nil` where that takes more than a look.
    func isKnown(to request: PlainRequest, in bytes: ByteBuffer) -> Bool? {
        if let place = request.ifNoneMatch { return bytes.slice(at: place) == entityTag ? true : nil }
        if let place = request.ifModifiedSince { return bytes.slice(at: place) == lastModified ? true : nil }
        return false
    }
}

extension ByteBuffer {
    /// The bytes at `place`, counted from the first readable one.
    func slice(at place: Range<Int>) -> ByteBuffer? { getSlice(at: readerIndex + place.lowerBound, length: place.count) }
}
