import Synchronization

/// One route's answers before the parser on one event loop. That loop alone counts, so that it takes neither a lock nor a locked
/// instruction; anybody may read.
final class EarlyAnswers: Sendable {
    let route: String
    private let wholeCount = Atomic(0)
    private let notModifiedCount = Atomic(0)

    init(route: String) { self.route = route }

    var whole: Int { wholeCount.load(ordering: .relaxed) }
    var notModified: Int { notModifiedCount.load(ordering: .relaxed) }

    func addWhole() { wholeCount.store(whole &+ 1, ordering: .relaxed) }
    func addNotModified() { notModifiedCount.store(notModified &+ 1, ordering: .relaxed) }
}
