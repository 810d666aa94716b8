import OnesheetCore

/// What became of a source's calls since the start.
package struct SourceFigures: Sendable, Equatable {
    package var calls: [SourceOutcome: Int] = [:]
    /// Calls that were not refused, and the seconds that they took together.
    package var timed = 0
    package var seconds = 0.0
    package var underWay = 0
}

/// What came of a call.
package enum SourceOutcome: String, Sendable, CaseIterable {
    case answered, unauthorized, unavailable, unsupported, refused
    case notFound = "not_found"
    case quotaExhausted = "quota_exhausted"
    case malformedAnswer = "malformed_answer"
    case timedOut = "timed_out"

    init<Value>(_ result: Result<Value, SourceError>?) {
        self =
            switch result {
            case nil: .timedOut
            case .success: .answered
            case .failure(.notFound): .notFound
            case .failure(.unauthorized): .unauthorized
            case .failure(.quotaExhausted): .quotaExhausted
            case .failure(.unavailable): .unavailable
            case .failure(.malformedAnswer): .malformedAnswer
            case .failure(.unsupported): .unsupported
            }
    }
}
