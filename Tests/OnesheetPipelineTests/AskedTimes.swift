import Synchronization

@testable import OnesheetPipeline

/// The times at which a service was asked, by the clock that paces calls.
final class AskedTimes: Sendable {
    private let start = SlotClock.now()
    private let times = Mutex<[Double]>([])

    var count: Int { times.withLock { $0.count } }

    func note() { times.withLock { $0.append(SlotClock.now()) } }

    /// The first call before its turn, if there is one. A slow machine makes calls later, which is never too early.
    /// - Parameter rate: calls per second, evenly spread.
    func early(at rate: Double) -> String? {
        let times = times.withLock { $0 }
        guard let number = times.indices.first(where: { times[$0] - start < Double($0) / rate - 1e-6 }) else { return nil }
        return "call \(number + 1) came after \(times[number] - start) s, at \(rate) calls per second"
    }
}
