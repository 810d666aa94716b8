import NIOCore
import OnesheetCore

/// The prepared hits of one event loop that hold files open, until their second is over: opening a file takes longer than sending it.
///
/// What is removed meanwhile is not sent, but takes its room on the disk or in memory until then, which is why only few and small files
/// are kept. Used on its loop alone.
final class KeptOpen {
    /// Hits at once. Whoever is asked for most comes first, for being asked for often is what a hit is kept for.
    private static let limit = 64
    /// Bytes of a body. Of a shorter one, copying it takes no longer than sending it from a file.
    private static let sizes = 8 << 10...128 << 10

    private let loop: any EventLoop
    private let clock: WallClock
    private var hits: [PreparedHit] = []

    init(on loop: any EventLoop, clock: WallClock) { (self.loop, self.clock) = (loop, clock) }

    /// - Returns: whether `hit` may hold a file open that is sent with `body`. It is let go of when its second is over.
    func keep(_ hit: PreparedHit, for body: HitBody) -> Bool {
        guard Self.sizes.contains(body.length) else { return false }
        if hits.contains(where: { $0 === hit }) { return true }
        guard hits.count < Self.limit else { return false }
        if hits.isEmpty { sweepSoon() }
        hits.append(hit)
        return true
    }

    private func sweepSoon() {
        let here = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: .seconds(1)) {
            let kept = here.value
            let now = kept.clock.now
            kept.hits.removeAll { hit in
                guard !hit.isGood(at: now) else { return false }
                hit.closeFiles()
                return true
            }
            if !kept.hits.isEmpty { kept.sweepSoon() }
        }
    }
}
