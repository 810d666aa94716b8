import FoundationEssentials
import Hummingbird
import NIOCore

/// The answer to `/health`, written once for all requests of one second: whoever watches the server gets it at once, however much there
/// is to do. Used on one event loop alone.
final class PreparedHealth {
    static let target = ByteBuffer(string: HealthRoute.path)

    private let cors: CORS
    private let answers: EarlyAnswers
    private var head = ByteBuffer()
    private let body = ByteBuffer(string: HealthRoute.text)
    /// While the head is right.
    private var second: Range<Date>?

    init(_ cors: CORS, _ answers: EarlyAnswers) { (self.cors, self.answers) = (cors, answers) }

    func answer(isHead: Bool, at now: Date) -> HitAnswer {
        if second?.contains(now) != true {
            head = Response.text(HealthRoute.text).head(cors, at: now)
            second = now.second
        }
        answers.addWhole()
        return isHead ? .head(head) : .parts(head, .bytes(body))
    }
}
