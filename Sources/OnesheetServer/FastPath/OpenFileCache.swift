import NIOCore
import OnesheetCache
import OnesheetCore

/// The prepared hits of one event loop that hold files open, until their second is over: opening a file takes longer than sending it.
///
/// What is removed meanwhile is not sent, but takes its room on the disk or in memory until then, which is why only few and small files
/// are kept. Used on its loop alone.
final class KeptOpen {
    /// Hits at once; one can hold two files.
    private static let limit = 32
    /// Bytes of the longest body that is kept.
    private static let sizeLimit = 128 << 10
    /// Bytes of the shortest body that is worth a file of memory: of a shorter one, copying it takes no longer.
    private static let memorySize = 8 << 10
    /// Bytes that files of memory take, also those that are let go of but still on their way to slow clients.
    private static let memoryLimit = 16 << 20

    private let loop: any EventLoop
    private let clock: WallClock
    private var hits: [PreparedHit] = []
    private var memoryFiles: [Weak<ReadyFile>] = []

    init(on loop: any EventLoop, clock: WallClock) { (self.loop, self.clock) = (loop, clock) }

    /// - Returns: whether `hit` may hold files open, with a body of `length` bytes. They are let go of when its second is over.
    func keep(_ hit: PreparedHit, length: Int) -> Bool {
        guard length <= Self.sizeLimit else { return false }
        if hits.contains(where: { $0 === hit }) { return true }
        if hits.count >= Self.limit { sweep() }
        guard hits.count < Self.limit else { return false }
        if hits.isEmpty { sweepSoon() }
        hits.append(hit)
        return true
    }

    /// A file of memory that holds `head` and `body`, for `hit` to keep.
    /// - Returns: `nil` where it is not worth it, or there is no room.
    func memoryFile(_ head: ByteBuffer, _ body: HitBody, for hit: PreparedHit) -> ReadyFile? {
        memoryFiles.removeAll { $0.object == nil }
        let held = memoryFiles.reduce(0) { $0 + ($1.object?.region.readableBytes ?? 0) }
        guard body.length >= Self.memorySize, held + head.readableBytes + body.length <= Self.memoryLimit,
            keep(hit, length: body.length), let bytes = body.bytes
        else { return nil }
        do {
            let file = try ReadyFile.inMemory([head, bytes])
            memoryFiles.append(Weak(file))
            return file
        } catch {
            // The body is sent as it is: there is no memory or no descriptor left, or the system has no such files.
            return nil
        }
    }

    private func sweep() {
        let now = clock.now
        hits.removeAll { hit in
            guard !hit.isGood(at: now) else { return false }
            hit.closeFiles()
            return true
        }
    }

    /// Sweeps also where nobody asks any more.
    private func sweepSoon() {
        // Whoever drops all of this need not wait until the files are closed.
        let here = NIOLoopBound(Weak(self), eventLoop: loop)
        loop.scheduleTask(in: .seconds(1)) {
            guard let kept = here.value.object else { return }
            kept.sweep()
            if !kept.hits.isEmpty { kept.sweepSoon() }
        }
    }
}

/// Something that others keep alive, or not.
private struct Weak<Object: AnyObject> {
    weak var object: Object?
    init(_ object: Object) { self.object = object }
}
