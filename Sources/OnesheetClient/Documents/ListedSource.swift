public import OnesheetValues

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A source of the server, with its health and its capabilities (`GET /sources`).
public struct ListedSource: Sendable, Equatable, Decodable {
    /// The health of a source. A newer server may know more states than these.
    public struct State: RawRepresentable, Sendable, Hashable, Decodable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It answers.
        public static let well = State(rawValue: "well")
        /// It has failed since `since`, because of `reason`.
        public static let failing = State(rawValue: "failing")
        /// Its daily quota is spent until `until`.
        public static let exhausted = State(rawValue: "exhausted")
        /// Its service, or a host of its images, wants no requests until `until`.
        public static let limited = State(rawValue: "limited")
    }

    /// The configured name, which is also the scheme of its titles' source URLs.
    public let name: String
    /// The name of its plugin, such as `sample` or `boxoffice`.
    public let type: String?
    /// The present state.
    public let state: State
    /// The time when the state began.
    public let since: Date?
    /// The reason for the state, if it is not good.
    public let reason: String?
    /// The time at which the state is expected to end.
    public let until: Date?
    /// Whether it has lists of titles.
    public let hasLists: Bool
    /// Whether it can search for titles.
    public let searches: Bool
    /// The first day with a list, if there is one.
    public let firstDay: CalendarDay?
    /// The last day with a list at present.
    public let lastDay: CalendarDay?
    private let periodNames: [String]?

    /// The periods of its lists by date; empty if its list does not depend on a date. Periods that this client does not know are left out.
    public var periods: [TitleQuery.Period] { (periodNames ?? []).compactMap(TitleQuery.Period.init(rawValue:)) }

    private enum CodingKeys: String, CodingKey {
        case name, type, state, since, reason, until, hasLists, searches, firstDay, lastDay
        case periodNames = "periods"
    }
}

/// `GET /sources`.
struct SourcesDocument: Decodable {
    let sources: [ListedSource]
}
