/// The requests that a source supports, so that clients offer no others.
public struct SourceCapabilities: Sendable, Equatable {
    /// Whether it has lists of titles.
    public var hasLists: Bool
    /// The periods of its lists by date; empty if its list does not depend on a date.
    public var periods: [TitleQuery.Period]
    /// The first day with a list, if there is one.
    public var firstDay: CalendarDay?
    /// The last day with a list at present; `nil` is today.
    public var lastDay: CalendarDay?
    /// Whether it can search for titles.
    public var searches: Bool

    public init(
        hasLists: Bool = true, periods: [TitleQuery.Period] = [], firstDay: CalendarDay? = nil, lastDay: CalendarDay? = nil,
        searches: Bool = true
    ) {
        (self.hasLists, self.periods, self.firstDay, self.lastDay) = (hasLists, periods, firstDay, lastDay)
        self.searches = searches
    }
}
