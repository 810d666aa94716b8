import FoundationEssentials
import NIOCore
import NIOFoundationEssentialsCompat
import OnesheetCache
import OnesheetCore
import OnesheetCrypto

/// Whether HTTP responses to sources are recorded, or replayed from a recording. Plugin authors can so work with a service's real
/// responses without its key or a network.
package enum RecordReplay: Sendable, Equatable {
    case off
    /// Writes every response into this folder, without secrets and readable only by its owner.
    case record(folder: String)
    /// Reads every response from this folder instead of the network.
    case replay(folder: String)

    /// The transport for this mode: `network` itself, or a transport that records or replays.
    /// - Parameter writes: whether to create the folder of a recording. If not, only its permissions are checked.
    /// - Throws: `ConfigurationError` if the folder cannot be used.
    func transport(
        _ network: any HTTPTransport, _ redaction: Redaction, writes: Bool = true
    ) throws(ConfigurationError) -> any HTTPTransport {
        switch self {
        case .off: return network
        case .record(let folder):
            do throws(CacheError) {
                try writes ? PrivateFile.makeFolders(folder) : FolderExamination.requireWritable(folder)
            } catch {
                throw ConfigurationError(path: "--record", message: "\(error)")
            }
            return RecordingTransport(network: network, folder: folder, redaction: redaction)
        case .replay(let folder):
            guard FileManager.default.fileExists(atPath: folder) else {
                throw ConfigurationError(
                    path: "--replay", message: "the folder \(folder) does not exist; create it with --record \(folder)")
            }
            return ReplayingTransport(folder: folder, redaction: redaction)
        }
    }
}

/// A recorded response: one JSON file for each URL, or for each URL and body of a POST.
private struct RecordedAnswer: Codable {
    let url: String
    /// The body of a POST whose answer has no secret.
    let body: String?
    let status: Int
    let headers: [String: String]
    /// The body as text if it is UTF-8, so that people can read and edit it. Other bodies are in Base64.
    let text: String?
    let base64: Data?

    static func path(_ url: String, _ body: String?, in folder: String) -> String {
        let digest = SHA256.hash((url + (body.map { "\n" + $0 } ?? "")).utf8).prefix(12)
        return folder + "/" + digest.hexadecimal + ".json"
    }
}

/// Passes requests on and records the responses without secrets.
private struct RecordingTransport: HTTPTransport {
    let network: any HTTPTransport
    let folder: String
    let redaction: Redaction

    func get(
        _ request: OnesheetCore.HTTPRequest, under policy: OriginPolicy
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        let answer = try await network.get(request, under: policy)
        // A 304 has no body to replay.
        guard !answer.isNotModified else { return answer }
        let url = redaction.url(request.url)
        let body = redaction.body(of: request)
        let text = request.hasSecretAnswer ? Redaction.withoutTexts(answer.body) : redaction.text(of: answer.body)
        let recorded = RecordedAnswer(
            url: url, body: body, status: answer.status, headers: redaction.fields(answer.headers), text: text,
            base64: text == nil ? Data(buffer: answer.body) : nil)
        do {
            let document = ByteBuffer(data: try JSONEncoder.document.encode(recorded))
            try PrivateFile.write(document, to: RecordedAnswer.path(url, body, in: folder))
        } catch {
            throw .failed(url: url, reason: "cannot record the response: \(error)")
        }
        return answer
    }
}

/// Replays recorded responses.
struct ReplayingTransport: HTTPTransport {
    let folder: String
    let redaction: Redaction

    func get(
        _ request: OnesheetCore.HTTPRequest, under policy: OriginPolicy
    ) async throws(HTTPTransportError) -> HTTPAnswer {
        let url = redaction.url(request.url)
        let path = RecordedAnswer.path(url, redaction.body(of: request), in: folder)
        guard FileManager.default.fileExists(atPath: path) else {
            throw .failed(url: url, reason: "no response is recorded; record one with --record \(folder)")
        }
        do {
            let recorded = try JSONDecoder().decode(RecordedAnswer.self, from: Data(contentsOf: URL(filePath: path)))
            let body = recorded.text.map { ByteBuffer(string: $0) } ?? ByteBuffer(data: recorded.base64 ?? Data())
            return HTTPAnswer(status: recorded.status, headers: recorded.headers, body: body)
        } catch {
            throw .failed(url: url, reason: "\(path) is not a recorded response: \(error)")
        }
    }
}

/// Removes secrets from recordings: the values of environment variables that the configuration uses, what may be a secret in the
/// configuration itself (`PrintedValue.secretTexts`), and the values of URL parameters, members of JSON and header fields whose names are those
/// of secrets (`SecretNames`).
struct Redaction: Sendable {
    static let placeholder = "REDACTED"

    private static let named = NamedSecrets(placeholder: placeholder)
    private let secrets: [String]

    /// - Parameter secrets: values from the environment and the configuration. Values shorter than four bytes are ignored, because they would match
    ///   everywhere.
    init(secrets: [String]) {
        let long = secrets.filter { $0.utf8.count >= 4 }
        // As they are written in URLs, forms, and JSON, where PHP escapes slashes.
        let spellings = long.flatMap { secret -> [String] in
            let encoded = PercentEncoding.encode(secret)
            let slashes = ["\\/", "\\u002f", "\\u002F"].map { secret.replacing(bytesOf: "/", with: $0) }
            return [secret, encoded, encoded.withSmallEscapes, encoded.replacing(bytesOf: "%20", with: "+")] + slashes
        }
        // Longest first, because one secret may contain another.
        self.secrets = Set(spellings.map { ExactText($0) }).map(\.description).sorted { $0.utf8.count > $1.utf8.count }
    }

    /// A URL without secrets. Recordings are filed under it.
    func url(_ url: String) -> String {
        guard let (address, pairs) = url.cut(at: "?") else { return text(url) }
        let query = pairs.pieces(at: "&", omittingEmptySubsequences: false).map { pair in
            let name = pair.cut(at: "=")?.before ?? pair
            return SecretNames.isOne(Self.decoded(name)) ? "\(name)=\(Self.placeholder)" : text(String(pair))
        }
        return text(String(address)) + "?" + query.joined(separator: "&")
    }

    /// The name of a parameter without its escapes, if they are valid.
    private static func decoded(_ name: Substring) -> String {
        do throws(RequestError) { return try PercentEncoding.decode(name) } catch { return String(name) }
    }

    /// A text without the secrets. Matches bytes, so that a combining mark after a secret does not hide it.
    func text(_ text: String) -> String {
        Self.named.parametersRemoved(from: secrets.reduce(text) { $0.replacing(bytesOf: $1, with: Self.placeholder) })
    }

    /// The text of a response without secrets; `nil` if it is not UTF-8.
    func text(of body: ByteBuffer) -> String? {
        String(validating: body.readableBytesView, as: UTF8.self).map { text(Self.named.membersRemoved(from: $0)) }
    }

    /// The body of a POST without secrets, for its recording. That of a request for a token is none: it has nothing but keys.
    func body(of request: OnesheetCore.HTTPRequest) -> String? {
        guard let body = request.body else { return nil }
        guard !request.hasSecretAnswer, let document = Self.document(body) else { return "" }
        return Self.written(redacted(document))
    }

    /// The document with all texts replaced, and so without any secret. Another body is replaced as a whole.
    static func withoutTexts(_ body: ByteBuffer) -> String { document(body).map { written(blank($0)) } ?? placeholder }

    private static func document(_ body: ByteBuffer) -> JSONValue? {
        do throws(JSONDamage) { return try JSONValue(reading: body) } catch { return nil }
    }

    private static func written(_ document: JSONValue) -> String {
        do { return String(decoding: try JSONEncoder.document.encode(document), as: UTF8.self) } catch { return placeholder }
    }

    private func redacted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(self.text(text))
        case .array(let members): .array(members.map(redacted))
        case .object(let members):
            .object(
                Dictionary(
                    uniqueKeysWithValues: members.map { name, value in
                        (name, SecretNames.isOne(name) ? .string(Self.placeholder) : redacted(value))
                    }))
        case .null, .bool, .integer, .number: value
        }
    }

    private static func blank(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string: .string(placeholder)
        case .array(let members): .array(members.map(blank))
        case .object(let members): .object(members.mapValues(blank))
        case .null, .bool, .integer, .number: value
        }
    }

    /// A response's header fields without secrets and cookies.
    func fields(_ fields: [String: String]) -> [String: String] {
        fields.filter { !SecretNames.isOne($0.key) }.mapValues(text)
    }
}

extension String {
    /// A percent-encoded text whose escapes have small letters.
    fileprivate var withSmallEscapes: String {
        var left = 0
        let bytes = utf8.map { byte -> UInt8 in
            if byte == UInt8(ascii: "%") { left = 3 }
            left -= 1
            return left >= 0 && (0x41...0x46).contains(byte) ? byte | 0x20 : byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
