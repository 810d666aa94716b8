import FoundationEssentials

extension Date {
    /// The second that this moment is in: for so long the same `Date` field (RFC 9110 §6.6.1) is sent. Moments before it are those of a
    /// clock that was set back.
    var second: Range<Date> {
        let start = Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down))
        return start..<start.addingTimeInterval(1)
    }
}
