public import OnesheetValues

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The variants to make ahead (`POST /prefetch`).
public struct PrefetchOrder: Sendable, Equatable, Encodable {
    /// The titles of an order.
    public enum Titles: Sendable, Equatable {
        /// The source's newest list.
        case newest
        /// The list of a day.
        case day(CalendarDay)
        /// The lists of all days from the first to the last.
        case days(CalendarDay, CalendarDay)
        /// The list of this name, if the source has several: `popular` of TMDB.
        case list(String)
        /// The titles that a search finds.
        case search(String)
        /// These titles. At least one.
        case ids([String])
    }

    /// The name of the source.
    public var source: String
    /// The titles whose posters are made.
    public var titles: Titles
    /// Names of sizes; `nil` for those of the server's default.
    public var sizes: [String]?
    /// The extensions of formats; `nil` for those of the server's default.
    public var formats: [String]?
    /// The queries with which clients ask a database about a title, such as `language=de-DE`; `nil` for no answers.
    public var answers: [String]?

    public init(
        source: String, titles: Titles = .newest, sizes: [String]? = nil, formats: [String]? = nil, answers: [String]? = nil
    ) {
        self.source = source
        self.titles = titles
        self.sizes = sizes
        self.formats = formats
        self.answers = answers
    }

    private enum CodingKeys: CodingKey { case source, date, from, to, list, query, ids, sizes, formats, answers }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(source, forKey: .source)
        switch titles {
        case .newest: break
        case .day(let day): try members.encode(day, forKey: .date)
        case .days(let first, let last):
            try members.encode(first, forKey: .from)
            try members.encode(last, forKey: .to)
        case .list(let name): try members.encode(name, forKey: .list)
        case .search(let words): try members.encode(words, forKey: .query)
        case .ids(let ids): try members.encode(ids, forKey: .ids)
        }
        try members.encodeIfPresent(sizes, forKey: .sizes)
        try members.encodeIfPresent(formats, forKey: .formats)
        try members.encodeIfPresent(answers, forKey: .answers)
    }
}

/// The progress of a prefetch.
public struct PrefetchProgress: Sendable, Equatable, Decodable {
    /// A title that could not be prefetched.
    public struct Failure: Sendable, Equatable, Decodable {
        /// The title as `source://id`.
        public let title: String
        /// The variants that are missing for it.
        public let variants: Int
        /// The error.
        public let reason: String
    }

    /// What became of a title.
    public struct Outcome: Sendable, Equatable, Decodable {
        /// A newer server may know more states than these.
        public struct State: RawRepresentable, Sendable, Hashable, Decodable {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            /// At least one variant was made, and none is missing.
            public static let new = State(rawValue: "new")
            /// The cache had all variants.
            public static let known = State(rawValue: "known")
            /// A variant is missing.
            public static let failed = State(rawValue: "failed")
        }

        /// The title as `source://id`.
        public let title: String
        public let state: State
    }

    /// Variants requested.
    public let total: Int
    /// Variants that were made.
    public let made: Int
    /// Variants among those that were made, and that the server does not keep because their origin forbids it.
    public let notKept: Int?
    /// Variants that the cache already had.
    public let skipped: Int
    /// Variants of images that a title need not have, such as a logo, and does not have.
    public let none: Int?
    /// Variants of all failures.
    public let failed: Int
    /// Bytes of the new variants.
    public let bytes: Int?
    /// The last failures; in the last report all of them.
    public let failures: [Failure]?
    /// What became of each title that was tried, in the order of the ids or of the list. Only the last report of an order with ids or the
    /// name of a list has it.
    public let titles: [Outcome]?

    /// Variants that were tried.
    public var done: Int { made.addingSaturating(skipped).addingSaturating(none ?? 0).addingSaturating(failed) }
    /// The part of the work that is done, 0 to 1; 1 if there is nothing to do.
    public var fraction: Double { total > 0 ? Double(done) / Double(total) : 1 }
}

/// A prefetch that runs on the server, or one of the last that have ended (`GET /prefetch`).
public struct PrefetchJob: Sendable, Equatable, Decodable {
    /// The state of a job. A newer server may know more states than these.
    public struct State: RawRepresentable, Sendable, Hashable, Decodable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The prefetch is running.
        public static let running = State(rawValue: "running")
        /// All variants were tried.
        public static let done = State(rawValue: "done")
        /// The administrator stopped it, or its client left.
        public static let stopped = State(rawValue: "stopped")
        /// It ended with an error.
        public static let failed = State(rawValue: "failed")
    }

    /// Counts from 1, in order of beginning, since the server's start.
    public let number: Int
    /// The name of the source.
    public let source: String
    /// The number of answers of the service among its variants; `nil` from older servers.
    public let answers: Int?
    /// The time when it began.
    public let began: Date
    /// The time when it ended; `nil` while it runs.
    public let ended: Date?
    /// The present state.
    public let state: State
    /// The progress, with the last failures only.
    public let progress: PrefetchProgress
}

/// `GET /prefetch`.
struct PrefetchJobsDocument: Decodable {
    let jobs: [PrefetchJob]
}

/// The predicted cost of a prefetch (`POST /prefetch` with `dryRun`).
public struct PrefetchCost: Sendable, Equatable, Decodable {
    /// Variants that are there or missing.
    public let total: Int
    /// Variants that the cache already has.
    public let there: Int
    /// Variants to make, at most: an answer that is not cached may name images that others name too, or none.
    public let missing: Int
    /// Titles whose source would be asked for candidates, with one or two calls each.
    public let titlesToAsk: Int
    /// The least number of pictures to fetch.
    public let fetches: Int
    /// Bytes to store; `nil` while the cache is empty.
    public let bytes: Int?
}
