/// The response of a fake service.
struct Answer: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// Fewer bytes than announced; then the connection closes.
        case truncated([UInt8], announced: Int)
        /// An endless body.
        case endless
        /// No bytes at all.
        case silence
    }

    var status = 200
    var type = "application/json;charset=utf-8"
    var location: String?
    var body: Body
    /// Pictures may be kept for a day, as those of the real hosts. The answers of services may not.
    var cacheControl: String { type.hasPrefix("image/") ? "max-age=86400" : "no-store" }

    static func json(_ document: JSON, status: Int = 200) throws -> Answer {
        Answer(status: status, body: .bytes(try document.bytes()))
    }

    static func html(_ text: String, status: Int = 200, type: String = "text/html;charset=utf-8") -> Answer {
        Answer(status: status, type: type, body: .bytes(Array("<!doctype html><title>\(text)</title><p>\(text)</p>".utf8)))
    }

    static let missing = html("There is nothing here.", status: 404)
}

/// A fault that the services simulate from the start, for every request.
public enum Fault: String, Sendable, CaseIterable {
    /// The daily quota is exhausted.
    case quota
    /// The key is rejected.
    case key
    /// An error page with status 200.
    case html
    /// The services are down.
    case down
    /// There is no response.
    case silence
    /// Pictures are damaged.
    case pictures
}
