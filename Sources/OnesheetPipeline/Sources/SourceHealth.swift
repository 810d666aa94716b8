package import FoundationEssentials

/// Whether a source answers.
package enum SourceHealth: Sendable, Equatable {
    case well
    /// Its quota is used up.
    case exhausted(until: Date?)
    case failing(since: Date, reason: String)

    var weight: Int {
        switch self {
        case .well: 0
        case .exhausted: 1
        case .failing: 2
        }
    }

    /// A quota fills without anybody asking.
    func current(at now: Date) -> SourceHealth {
        if case .exhausted(let until?) = self, until <= now { return .well }
        return self
    }

    func failing(_ reason: String, at now: Date) -> SourceHealth {
        if case .failing(let since, _) = self { return .failing(since: since, reason: reason) }
        return .failing(since: now, reason: reason)
    }
}
