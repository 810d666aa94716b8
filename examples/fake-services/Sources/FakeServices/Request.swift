internal import FoundationEssentials

/// A parsed GET request.
struct Request: Sendable {
    /// Without the leading slash.
    let path: [String]
    let query: [String: String]
    let authorization: String?

    init(target: String, authorization: String?) {
        // Forms write a space as a plus.
        let question = target.firstIndex(of: "?") ?? target.endIndex
        let plain = target[question...].split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%20")
        let components = URLComponents(string: target[..<question] + plain)
        path = (components?.path ?? "").split(separator: "/").map(String.init)
        query = Dictionary(
            (components?.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
        self.authorization = authorization
    }
}
