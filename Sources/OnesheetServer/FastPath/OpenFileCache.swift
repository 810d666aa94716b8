import NIOCore
import OnesheetCache
import OnesheetCore

/// The prepared responses of one event loop that hold files open, until their second is over: opening a file takes longer than sending it.
///
/// What is removed meanwhile is not sent, but takes its room on the disk or in memory until then, which is why only few and small files
/// are kept. Used on its loop alone.
final class OpenFileCache {
    /// Responses at once; one can hold two files.
    private static let limit = 32
    /// Bytes of the longest body that is kept.
    private static let sizeLimit = 128 << 10
    /// Bytes of the shortest body that is worth a file of memory: of a shorter one, copying it takes no longer.
    private static let memorySize = 8 << 10
    /// Bytes that files of memory take, also those that are let go of but still on their way to slow clients.
    private static let memoryLimit = 16 << 20

    private let loop: any EventLoop
    private let clock: WallClock
    private var responses: [PreparedResponse] = []
    private var memoryFiles: [Weak<ReadyFile>] = []

    init(on loop: any EventLoop, clock: WallClock) { (self.loop, self.clock) = (loop, clock) }

    /// - Returns: whether `response` may hold files open, with a body of `length` bytes. They are let go of when its second is over.
    func keep(_ response: PreparedResponse, length: Int) -> Bool {
        guard length <= Self.sizeLimit else { return false }
        if responses.contains(where: { $0 === response }) { return true }
        if responses.count >= Self.limit { sweep() }
        guard responses.count < Self.limit else { return false }
        if responses.isEmpty { sweepSoon() }
        responses.append(response)
        return true
    }

    /// A file of memory that holds `head` and `body`, for `response` to keep.
    /// - Returns: `nil` if it is not worth it, or there is no room.
    func memoryFile(_ head: ByteBuffer, _ body: ReadyBody, for response: PreparedResponse) -> ReadyFile? {
        memoryFiles.removeAll { $0.object == nil }
        let held = memoryFiles.reduce(0) { $0 + ($1.object?.region.readableBytes ?? 0) }
        guard body.length >= Self.memorySize, held + head.readableBytes + body.length <= Self.memoryLimit,
            keep(response, length: body.length), let bytes = body.bytes
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
        responses.removeAll { response in
            guard !response.isGood(at: now) else { return false }
            response.closeFiles()
            return true
        }
    }

    /// Sweeps also when nobody asks any more.
    private func sweepSoon() {
        // Dropping all of this does not wait until the files are closed.
        let here = NIOLoopBound(Weak(self), eventLoop: loop)
        loop.scheduleTask(in: .seconds(1)) {
            guard let kept = here.value.object else { return }
            kept.sweep()
            if !kept.responses.isEmpty { kept.sweepSoon() }
        }
    }
}

/// Something that others keep alive, or not.
private struct Weak<Object: AnyObject> {
    weak var object: Object?
    init(_ object: Object) { self.object = object }
}
