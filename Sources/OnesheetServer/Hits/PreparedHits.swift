import FoundationEssentials
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetPipeline

/// What one event loop remembers of requests that memory could answer: each target's canonical request, and the heads.
///
/// Only what was remembered is taken for granted here, never that the entry is still there: the memory tier is asked each time, so a
/// purge holds at once. Used on its loop alone.
final class PreparedHits {
    /// How many targets and how many `Accept` headers are remembered; beyond it everything is learnt anew.
    private static let limit = 4096

    private let installation: Installation
    private let dialects: [any ImageDialect]
    private let cache: Cache
    private let accept: Accept
    private let clock: WallClock
    private var targets: [ByteBuffer: KnownTarget] = [:]
    private var formats: [ByteBuffer: ImageFormat] = [:]

    init(_ installation: Installation, dialects: [any ImageDialect]) {
        self.installation = installation
        self.dialects = dialects
        cache = installation.pipeline.cache
        accept = installation.accept
        clock = installation.clock
    }

    /// The head and, unless only that was asked for, the body to send; `nil` where it takes more than a look into memory or the page cache.
    func answer(_ request: PlainRequest, in bytes: ByteBuffer) -> (head: ByteBuffer, body: IOData?)? {
        guard let text = bytes.slice(at: request.target) else { return nil }
        let now = clock.now
        let known = targets[text]
        guard let target = known ?? understand(text) else { return nil }
        do { try target.address.checkExpiry(at: now.timeIntervalSince1970) } catch { return nil }
        let variant = target.variant(in: target.address.negotiates ? chosenFormat(request, in: bytes) : nil)
        guard let hit = cache.entryNow(for: variant.key) else { return nil }
        var isSent = false
        defer { if !isSent { hit.file?.close() } }
        if variant.prepared?.isGood(for: hit, at: now) != true {
            variant.prepared = PreparedHit(hit, at: now) { [installation] in
                installation.response($0, to: variant.request, at: target.address)
            }
        }
        if known == nil { remember(target, as: text) }
        guard let prepared = variant.prepared, let isKnown = prepared.isKnown(to: request, in: bytes) else { return nil }
        if isKnown { return (prepared.notModified, nil) }
        if request.isHead { return (prepared.head, nil) }
        isSent = true
        return (prepared.head, hit.file.map(IOData.fileRegion) ?? .byteBuffer(hit.entry.body))
    }

    /// Reads a target that is seen for the first time; `nil` where it is not an image's, or not a right one.
    private func understand(_ text: ByteBuffer) -> KnownTarget? {
        let path = String(buffer: text)
        guard let dialect = dialects.first(where: { path.hasPrefix($0.prefix) }) else { return nil }
        do {
            return KnownTarget(address: try dialect.address(path.dropFirst(dialect.prefix.count)))
        } catch {
            // The ordinary way says what is wrong with it.
            return nil
        }
    }

    private func remember(_ target: KnownTarget, as text: ByteBuffer) {
        if targets.count >= Self.limit { targets.removeAll() }
        // A copy: the slice would keep everything alive that came with it.
        targets[ByteBuffer(bytes: text.readableBytesView)] = target
    }

    private func chosenFormat(_ request: PlainRequest, in bytes: ByteBuffer) -> ImageFormat {
        guard let place = request.accept, let text = bytes.slice(at: place) else { return accept.choose(nil) }
        if let format = formats[text] { return format }
        let format = accept.choose(String(buffer: text))
        if formats.count >= Self.limit { formats.removeAll() }
        formats[ByteBuffer(bytes: text.readableBytesView)] = format
        return format
    }
}

extension FileRegion {
    /// Closes the file, once for all. It was only read, so nothing can be lost by that.
    func close() {
        do { try fileHandle.close() } catch { assertionFailure("closed twice: \(error)") }
    }
}
