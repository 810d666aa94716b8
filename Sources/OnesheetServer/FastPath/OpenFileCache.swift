import NIOCore
import OnesheetCache
import OnesheetCore

/// Keeps the files of prepared responses open until their second is over, because opening a file takes longer than sending it. One
/// cache per event loop.
///
/// There are two kinds of files, both for bodies of at most 128 KiB. In-memory files hold the head and a body of at least 8 KiB, once
/// it was requested several times. A tier's file is kept only if it is above what the memory tier takes at once: `Cache.lookUp(_:)`
/// reads files up to 128 KiB into memory, header included, or up to a tenth of a memory tier smaller than 1.25 MiB.
///
/// A removed entry is no longer sent, but its open file occupies disk space or memory until it is closed. The cache therefore keeps
/// only a few small files. Only used on its loop.
final class OpenFileCache {
    /// The maximum number of responses. Each can hold two files.
    private static let limit = 32
    /// The longest body to keep, in bytes.
    private static let sizeLimit = 128 << 10
    /// The shortest body, in bytes, that is worth an in-memory file. Copying a shorter body takes no longer.
    private static let memorySize = 8 << 10
    /// The maximum size of all in-memory files, in bytes, including released files that slow clients are still receiving.
    private static let memoryLimit = 16 << 20

    private let loop: any EventLoop
    private let clock: WallClock
    private var responses: [PreparedResponse] = []
    private var memoryFiles: [Weak<ReadyFile>] = []

    init(on loop: any EventLoop, clock: WallClock) {
        self.loop = loop
        self.clock = clock
    }

    /// - Returns: whether `response` may keep files open for a body of `length` bytes. The cache closes them when the second is
    ///   over.
    func keep(_ response: PreparedResponse, length: Int) -> Bool {
        guard length <= Self.sizeLimit else { return false }
        if responses.contains(where: { $0 === response }) { return true }
        if responses.count >= Self.limit { sweep() }
        guard responses.count < Self.limit else { return false }
        if responses.isEmpty { sweepSoon() }
        responses.append(response)
        return true
    }

    /// Creates an in-memory file with `head` and `body` for `response`.
    /// - Returns: `nil` if the body is too short, or if there is no room.
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
            // Out of memory or descriptors, or the system has no in-memory files: send the body from its buffer instead.
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

    /// Schedules a sweep, so files are closed even if no further request arrives.
    private func sweepSoon() {
        // The weak reference lets the cache be released before the task runs.
        let here = NIOLoopBound(Weak(self), eventLoop: loop)
        loop.scheduleTask(in: .seconds(1)) {
            guard let kept = here.value.object else { return }
            kept.sweep()
            if !kept.responses.isEmpty { kept.sweepSoon() }
        }
    }
}

/// A weak reference to an object.
private struct Weak<Object: AnyObject> {
    weak var object: Object?
    init(_ object: Object) { self.object = object }
}
