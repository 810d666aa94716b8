/// What a fake service answers.
struct Answer: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// Fewer bytes than announced, then the connection breaks.
        case truncated([UInt8], announced: Int)
        /// Bytes without an end.
        case endless
        /// Nothing, ever.
        case silence
    }

    var status = 200
    var type = "application/json;charset=utf-8"
    var location: String?
    var body: Body

    static func json(_ document: JSON, status: Int = 200) throws -> Answer {
        Answer(status: status, body: .bytes(try document.bytes()))
    }

    static func html(_ text: String, status: Int = 200, type: String = "text/html;charset=utf-8") -> Answer {
        Answer(status: status, type: type, body: .bytes(Array("<!doctype html><title>\(text)</title><p>\(text)</p>".utf8)))
    }

    static let missing = html("There is nothing here.", status: 404)
}

/// A fault that the services play from the start, for every request.
public enum Fault: String, Sendable, CaseIterable {
    /// The day's budget of calls is used up.
    case quota
    /// The key is refused.
    case key
    /// A page that says sorry, with status 200.
    case html
    /// The services are down.
    case down
    /// Nobody answers.
    case silence
    /// Pictures are damaged.
    case pictures
}
