import OnesheetCore

/// The outcome of a prefetch.
package struct PrefetchSummary: Sendable, Equatable, Codable {
    /// A title that could not be prefetched, or pages of a list that could not be read.
    package struct Failure: Sendable, Equatable, Codable {
        package var title: String
        /// The variants that are missing for it.
        package var variants: Int
        package var reason: String

        package init(title: String, variants: Int, reason: String) {
            self.title = title
            self.variants = variants
            self.reason = reason
        }
    }

    /// What became of one title.
    package struct Outcome: Sendable, Equatable, Codable {
        package enum State: String, Sendable, Codable {
            /// At least one variant was made, and none is missing.
            case new
            /// A tier had all variants, apart from those that the title does not have.
            case known
            /// A variant is missing.
            case failed
        }

        package var title: String
        package var state: State

        package init(title: String, state: State) {
            self.title = title
            self.state = state
        }
    }

    /// Images and answers requested. Each of these counts as a variant.
    package var total = 0
    package var made = 0
    /// Variants among those that were made, and that no tier keeps because their origin forbids it.
    package var notKept = 0
    /// Variants that a tier already had, also one made before for another answer.
    package var skipped = 0
    /// Variants of images that a title need not have, such as a logo, and does not have, or that an answer does not name.
    package var none = 0
    /// Bytes of the new variants.
    package var bytes = 0
    /// Variants of all failures.
    package private(set) var failed = 0
    package private(set) var failures: [Failure] = []
    /// What became of each title that was tried, in the order of the ids or of the list; `nil` if the order names neither, and before the end.
    package var titles: [Outcome]?

    /// - Parameter failures: what was missing before it began.
    package init(total: Int = 0, failures: [Failure] = []) {
        self.total = total
        for failure in failures { add(failure) }
    }

    package var done: Int { made + skipped + none + failed }

    /// Adds a failure, to the last one if that has the same title and reason.
    package mutating func add(_ failure: Failure) {
        failed += failure.variants
        if let last = failures.last, last.title.isExactly(failure.title), last.reason.isExactly(failure.reason) {
            failures[failures.count - 1].variants += failure.variants
        } else {
            failures.append(failure)
        }
    }

    /// The same progress with the last failures only, for frequent reports.
    package func withLastFailures(_ count: Int = 10) -> Self {
        var summary = self
        summary.failures = failures.suffix(count)
        summary.titles = nil
        return summary
    }

    /// The titles of the failures by reason, in the order of the first title of each. Many titles often share a reason.
    package var titlesByReason: [(reason: String, titles: [String])] {
        var places: [ExactText: Int] = [:]
        var groups: [(reason: String, titles: [String])] = []
        for failure in failures {
            if let place = places[ExactText(failure.reason)] {
                groups[place].titles.append(failure.title)
            } else {
                places[ExactText(failure.reason)] = groups.count
                groups.append((failure.reason, [failure.title]))
            }
        }
        return groups
    }

    /// What became of the only title of this summary; `nil` if not all of its variants were tried.
    func state(of variants: Int) -> Outcome.State? {
        guard done == variants else { return nil }
        return failed > 0 ? .failed : made > 0 ? .new : .known
    }

    mutating func add(_ other: Self) {
        made += other.made
        notKept += other.notKept
        skipped += other.skipped
        none += other.none
        bytes += other.bytes
        for failure in other.failures { add(failure) }
    }
}

/// The predicted cost of a prefetch.
package struct PrefetchEstimate: Sendable, Equatable, Codable {
    /// Variants that are there or missing.
    package var total = 0
    /// Variants that a tier already has.
    package var there = 0
    /// Variants to make, at most: an answer that is not cached may name images that others name too, or none.
    package var missing = 0
    /// Titles whose source would be asked for candidates, with one or two calls each.
    package var titlesToAsk = 0
    /// The least number of pictures to fetch. A comparison of search hits fetches up to four for each title.
    package var fetches = 0
    /// Answers to ask services for.
    package var answers = 0
    /// Bytes to store, estimated from the average entry of the cache; `nil` while the cache is empty.
    package var bytes: Int?

    package init() {}
}
