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

/// A recorded response: one JSON file per URL.
private struct RecordedAnswer: Codable {
    let url: String
    let status: Int
    let headers: [String: String]
    /// The body as text if it is UTF-8, so that people can read and edit it. Other bodies are in Base64.
    let text: String?
    let base64: Data?

    static func path(_ url: String, in folder: String) -> String {
        let digest = SHA256.hash(url.utf8).prefix(12)
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
        let text = String(validating: answer.body.readableBytesView, as: UTF8.self).map(redaction.text)
        let recorded = RecordedAnswer(
            url: url, status: answer.status, headers: redaction.fields(answer.headers), text: text,
            base64: text == nil ? Data(buffer: answer.body) : nil)
        do {
            let document = ByteBuffer(data: try JSONEncoder.document.encode(recorded))
            try PrivateFile.write(document, to: RecordedAnswer.path(url, in: folder))
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
        let path = RecordedAnswer.path(url, in: folder)
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

/// Removes secrets from recordings: the values of environment variables that the configuration uses, and the values of URL
/// parameters and header fields whose names are those of secrets (`SecretNames`).
struct Redaction: Sendable {
    static let placeholder = "REDACTED"

    private let secrets: [String]

    /// - Parameter secrets: values from the environment. Values shorter than four bytes are ignored, because they would match
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
    func text(_ text: String) -> String { secrets.reduce(text) { $0.replacing(bytesOf: $1, with: Self.placeholder) } }

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
