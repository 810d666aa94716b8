import NIOCore
import Synchronization

/// Answers simple requests for what is cached on the event loop that has received them. Each loop has its own heads and open files, so
/// that none waits for another.
final class FastPath: Sendable {
    private let responder: ReloadableResponder
    private let sendsFiles: Bool
    private let loops = Mutex<[ObjectIdentifier: NIOLoopBound<LoopFastPath>]>([:])

    /// - Parameter sendsFiles: whether the system may send files by itself, which it cannot if they have to be encrypted.
    init(_ responder: ReloadableResponder, sendsFiles: Bool) { (self.responder, self.sendsFiles) = (responder, sendsFiles) }

    /// The requests that the router answers, with what was found about them here.
    var routedRequests: RoutedRequests { responder.routedRequests }

    /// - Parameter loop: the one that the caller is on.
    func part(on loop: any EventLoop) -> LoopFastPath {
        loops.withLock { loops in
            if let part = loops[ObjectIdentifier(loop)] { return part.value }
            let part = NIOLoopBound(LoopFastPath(responder, sendsFiles: sendsFiles, on: loop), eventLoop: loop)
            loops[ObjectIdentifier(loop)] = part
            return part.value
        }
    }

    /// Lets go of an exchanged configuration, also if no request comes.
    func refresh() {
        for part in loops.withLock({ Array($0.values) }) { part.eventLoop.execute { _ = part.value.heads } }
    }
}

/// One event loop's part of the fast path. Used on that loop alone.
final class LoopFastPath {
    private let responder: ReloadableResponder
    private let files: OpenFileCache?
    private var exchanges: Int
    private var current: ResponseHeadCache

    init(_ responder: ReloadableResponder, sendsFiles: Bool, on loop: any EventLoop) {
        self.responder = responder
        files = sendsFiles ? OpenFileCache(on: loop, clock: responder.router.table.images.clock) : nil
        exchanges = responder.exchanges
        current = ResponseHeadCache(responder.router, files: files)
    }

    /// The requests that the router answers, with what was found about them here.
    var routedRequests: RoutedRequests { responder.routedRequests }

    /// The heads, made anew once the configuration was exchanged.
    var heads: ResponseHeadCache {
        let exchanges = responder.exchanges
        if exchanges != self.exchanges {
            self.exchanges = exchanges
            current = ResponseHeadCache(responder.router, files: files)
        }
        return current
    }
}
