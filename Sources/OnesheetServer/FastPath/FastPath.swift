import NIOCore

/// Answers simple requests for cached images on the event loop that received them. Each loop has its own response heads and open
/// files.
final class FastPath: Sendable {
    private let parts: LoopLocal<LoopFastPath>

    /// - Parameter isEncrypted: whether the connections are encrypted. They cannot use `sendfile`, nor the socket itself.
    init(_ responder: ReloadableResponder, isEncrypted: Bool) {
        parts = LoopLocal { LoopFastPath(responder, isEncrypted: isEncrypted, on: $0) }
    }

    /// - Parameter loop: the event loop that the caller runs on.
    func part(on loop: any EventLoop) -> LoopFastPath { parts.value(on: loop) }

    /// Releases the previous configuration after a reload, even if no request arrives.
    func refresh() { parts.forEach { $0.refresh() } }
}

/// One event loop's part of the fast path. Only used on that loop.
final class LoopFastPath {
    let isEncrypted: Bool
    private let responder: ReloadableResponder
    private let files: OpenFileCache?
    private var reloads: Int
    private var current: ResponseHeadCache

    init(_ responder: ReloadableResponder, isEncrypted: Bool, on loop: any EventLoop) {
        self.isEncrypted = isEncrypted
        self.responder = responder
        files = isEncrypted ? nil : OpenFileCache(on: loop, clock: responder.router.table.images.clock)
        reloads = responder.reloads
        current = ResponseHeadCache(responder.router, files: files)
    }

    /// The prepared heads, created again after a reload.
    var heads: ResponseHeadCache {
        refresh()
        return current
    }

    /// Releases the heads of the previous configuration after a reload.
    func refresh() {
        let reloads = responder.reloads
        guard reloads != self.reloads else { return }
        self.reloads = reloads
        current = ResponseHeadCache(responder.router, files: files)
    }
}
