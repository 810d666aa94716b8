import NIOCore
import NIOHTTP2

/// Counts frames that cost a server more than a client. A client that works needs few of them.
struct FrameFlood {
    enum Kind: CaseIterable {
        /// Requests that the client takes back.
        case resets
        /// Requests that break a rule.
        case errors
        /// Pings and settings, which are answered.
        case questions
        /// Parts of bodies that are hardly longer than their heads.
        case crumbs

        fileprivate var most: Int { self == .crumbs ? 1000 : 200 }
    }

    /// Bytes of the longest crumb.
    static let crumb = 64
    private static let period = TimeAmount.seconds(30)

    private var counts: [Kind: (seen: Int, end: NIODeadline)] = [:]

    /// - Throws: if there are too many for the time.
    mutating func count(_ kind: Kind) throws(ConnectionFailure) {
        var (seen, end) = counts[kind] ?? (0, .now() + Self.period)
        if seen >= kind.most {
            let now = NIODeadline.now()
            guard now >= end else { throw ConnectionFailure(code: .enhanceYourCalm) }
            (seen, end) = (0, now + Self.period)
        }
        counts[kind] = (seen + 1, end)
    }
}
