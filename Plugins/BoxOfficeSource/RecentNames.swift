internal import OnesheetCore
internal import Synchronization

/// The film names in recent lists, so that a poster needs no call for the film's name: the daily quota is 3,000 calls.
final class RecentNames: Sendable {
    private struct Names {
        var byCode: [ExactText: String] = [:]
        var order: [ExactText] = []
    }

    private let names = Mutex(Names())
    private let limit: Int

    /// - Parameter limit: the most names; beyond it the oldest are removed.
    init(limit: Int = 5000) { self.limit = limit }

    subscript(code: String) -> String? { names.withLock { $0.byCode[ExactText(code)] } }

    func remember(_ titles: [(code: String, name: String)]) {
        names.withLock { names in
            for title in titles {
                let code = ExactText(title.code)
                if names.byCode.updateValue(title.name, forKey: code) == nil { names.order.append(code) }
            }
            guard names.order.count > limit else { return }
            for code in names.order.prefix(names.order.count - limit) { names.byCode[code] = nil }
            names.order.removeFirst(names.order.count - limit)
        }
    }
}
