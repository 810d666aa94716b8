import OnesheetPipeline

/// The decisions that have to be read again, because another server may have changed them.
typealias PendingDecisions = SomeOrAll<DecisionNotice>

extension DecisionNotice {
    /// The name of the decision among the values that servers share.
    var name: String {
        switch self {
        case .poster(let image): SharedDecision.name(of: image)
        case .blocked: "blocked"
        }
    }
}
