package import OnesheetCore

/// A variant, and how it came about.
package struct ImageAnswer: Sendable {
    package let entry: CacheEntry
    package let origin: AnswerOrigin
    /// How long each stage took that this request went through, in order.
    package var timings: [StageTiming]
}

/// Where an answer came from.
package enum AnswerOrigin: Sendable, Equatable {
    /// The tier of this name had it.
    case tier(String)
    /// It was made for this request.
    case made
    /// It was stale, and its original turned out to be the same still.
    case revalidated
}

/// How long a stage took.
package struct StageTiming: Sendable, Equatable {
    package let stage: String
    package let milliseconds: Double
}
