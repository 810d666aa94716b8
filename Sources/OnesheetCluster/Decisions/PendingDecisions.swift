import OnesheetPipeline

/// The decisions that have to be read again, because another server may have changed them.
struct PendingDecisions: Sendable, Equatable {
    private(set) var isAll = false
    private(set) var notices: Set<DecisionNotice> = []

    /// The most decisions. Beyond them, all are read.
    private static let limit = 1000

    init() {}

    static var all: PendingDecisions {
        var all = PendingDecisions()
        all.addAll()
        return all
    }

    var isEmpty: Bool { !isAll && notices.isEmpty }
    /// For a metric: the number of decisions, 1 for all.
    var count: Int { isAll ? 1 : notices.count }

    mutating func addAll() { (isAll, notices) = (true, []) }

    mutating func add(_ notice: DecisionNotice) {
        guard !isAll else { return }
        notices.insert(notice)
        if notices.count > Self.limit { addAll() }
    }

    mutating func add(_ other: PendingDecisions) {
        if other.isAll { addAll() }
        for notice in other.notices { add(notice) }
    }
}

extension DecisionNotice {
    /// The name of the decision among the values that servers share.
    var name: String {
        switch self {
        case .poster(let title): SharedDecision.name(of: title)
        case .blocked: "blocked"
        }
    }
}
