package import FoundationEssentials
internal import OnesheetCore
internal import OnesheetCrypto
internal import OnesheetTransport
internal import Synchronization

/// The credentials of a store.
package struct S3Credentials: Sendable {
    package var accessKey: String
    package var secretKey: String
    /// Of temporary credentials only.
    package var sessionToken: String?

    package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }
}

/// Signs requests with Signature Version 4 in the `Authorization` header
/// (<https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>).
package final class RequestSigner: Sendable {
    /// A request, as far as it is signed.
    package struct Request: Sendable {
        package var method: String
        /// `name[:port]`, as the `Host` header has it.
        package var host: String
        /// Percent-encoded once.
        package var path: String
        /// Names and values, not encoded.
        package var query: [(name: String, value: String)]
        /// Without `Host`; names in lower case.
        package var headers: [(name: String, value: String)]
        /// The SHA-256 of the body in hexadecimal.
        package var bodyDigest: String

        package init(
            method: String, host: String, path: String, query: [(name: String, value: String)] = [],
            headers: [(name: String, value: String)] = [], bodyDigest: String = RequestSigner.emptyDigest
        ) {
            self.method = method
            self.host = host
            self.path = path
            self.query = query
            self.headers = headers
            self.bodyDigest = bodyDigest
        }

        /// The query as it is sent and signed: sorted, with a value for each name.
        package var encodedQuery: String {
            query.map { (PercentEncoding.encode($0.name), PercentEncoding.encode($0.value)) }.sorted { $0 < $1 }
                .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
        }
    }

    /// The digest of an empty body.
    package static let emptyDigest = SHA256.hash([UInt8]()).hexadecimal

    private let credentials: S3Credentials
    private let region: String
    /// The signing key of a day: four of six HMACs of a signature.
    private let key = Mutex<(day: String, key: Digest)?>(nil)

    package init(_ credentials: S3Credentials, region: String) {
        self.credentials = credentials
        self.region = region
    }

    /// The headers to send, without `Host`: those of the request, the time, the digest, the token, and the signature.
    /// - Parameter time: the present time; a store refuses one that is 15 minutes wrong.
    package func headers(for request: Request, at time: Date) -> [(name: String, value: String)] {
        let (day, moment) = Self.texts(of: time)
        var headers = request.headers
        headers.append(("x-amz-content-sha256", request.bodyDigest))
        headers.append(("x-amz-date", moment))
        if let token = credentials.sessionToken { headers.append(("x-amz-security-token", token)) }
        let signed = (headers + [("host", request.host)]).sorted { $0.name < $1.name }
        let names = signed.map(\.name).joined(separator: ";")
        let lines = signed.map { "\($0.name):\($0.value)\n" }.joined()
        let canonical = [request.method, request.path, request.encodedQuery, lines, names, request.bodyDigest]
            .joined(separator: "\n")
        let scope = "\(day)/\(region)/s3/aws4_request"
        let digest = SHA256.hash(canonical.utf8).hexadecimal
        let text = "AWS4-HMAC-SHA256\n\(moment)\n\(scope)\n\(digest)"
        let signature = HMAC.sha256(of: text.utf8, key: signingKey(of: day)).hexadecimal
        headers.append(
            (
                "authorization",
                "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
            ))
        return headers
    }

    /// The headers for reading `url`, whose path and query are encoded as they are sent.
    func headers(for url: WebURL, of address: S3Address, at time: Date) -> [String: String] {
        var request = Request(
            method: "GET", host: address.host, path: url.target.cut(at: "?").map { String($0.before) } ?? url.target)
        for part in (url.query ?? "").pieces(at: "&", omittingEmptySubsequences: true) {
            let (name, value) = part.cut(at: "=") ?? (part, "")
            request.query.append((Self.decoded(name), Self.decoded(value)))
        }
        return Dictionary(headers(for: request, at: time)) { first, _ in first }
    }

    /// The text as it was before this program encoded it.
    private static func decoded(_ text: Substring) -> String {
        do throws(RequestError) { return try PercentEncoding.decode(text) } catch { return String(text) }
    }

    private func signingKey(of day: String) -> Digest {
        key.withLock { known in
            if let known, known.day == day { return known.key }
            let first = HMAC.sha256(of: day.utf8, key: "AWS4\(credentials.secretKey)".utf8)
            let key = [region, "s3", "aws4_request"].reduce(first) { key, part in HMAC.sha256(of: part.utf8, key: key) }
            known = (day, key)
            return key
        }
    }

    /// `20130524` and `20130524T000000Z`
    private static func texts(of time: Date) -> (day: String, moment: String) {
        let day = CalendarDay(time, secondsFromGMT: 0).compact
        let seconds = Int(time.timeIntervalSince1970.rounded(.down))
        let second = ((seconds % 86_400) + 86_400) % 86_400
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return (day, "\(day)T\(two(second / 3600))\(two(second / 60 % 60))\(two(second % 60))Z")
    }
}
