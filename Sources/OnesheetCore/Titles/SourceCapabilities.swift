/// What a source can be asked for, so that clients offer nothing that it refuses.
public struct SourceCapabilities: Sendable, Equatable {
    /// Whether it has lists of titles at all.
    public var hasLists: Bool
    /// What its lists by date sum up; empty if its list does not depend on a date.
    public var periods: [TitleQuery.Period]
    /// The first day that has a list, if there is one.
    public var firstDay: CalendarDay?
    /// The last day that has a list at the moment; `nil` is today.
    public var lastDay: CalendarDay?
    /// Whether it finds titles by words.
    public var searches: Bool

    public init(
        hasLists: Bool = true, periods: [TitleQuery.Period] = [], firstDay: CalendarDay? = nil, lastDay: CalendarDay? = nil,
        searches: Bool = true
    ) {
        (self.hasLists, self.periods, self.firstDay, self.lastDay) = (hasLists, periods, firstDay, lastDay)
        self.searches = searches
    }
}
