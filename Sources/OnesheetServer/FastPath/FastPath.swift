import NIOCore
import Synchronization

/// The prepared hits of each event loop, so that none waits for another.
final class HitsByLoop: Sendable {
    private let serving: Serving
    private let loops = Mutex<[ObjectIdentifier: NIOLoopBound<LoopHits>]>([:])

    init(_ serving: Serving) { self.serving = serving }

    /// - Parameter loop: the one that the caller is on.
    func hits(on loop: any EventLoop) -> LoopHits {
        loops.withLock { loops in
            if let hits = loops[ObjectIdentifier(loop)] { return hits.value }
            let hits = NIOLoopBound(LoopHits(serving, on: loop), eventLoop: loop)
            loops[ObjectIdentifier(loop)] = hits
            return hits.value
        }
    }

    /// Lets go of an exchanged installation, also where no request comes.
    func refresh() {
        for hits in loops.withLock({ Array($0.values) }) { hits.eventLoop.execute { _ = hits.value.current } }
    }
}

/// One event loop's prepared hits, made anew once the installation was exchanged. Used on that loop alone.
final class LoopHits {
    private let serving: Serving
    private let loop: any EventLoop
    private var exchanges: Int
    private var prepared: PreparedHits

    init(_ serving: Serving, on loop: any EventLoop) {
        (self.serving, self.loop) = (serving, loop)
        exchanges = serving.exchanges
        prepared = serving.prepared(on: loop)
    }

    var current: PreparedHits {
        let exchanges = serving.exchanges
        if exchanges != self.exchanges {
            self.exchanges = exchanges
            prepared = serving.prepared(on: loop)
        }
        return prepared
    }
}
