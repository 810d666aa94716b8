import Crypto
import FoundationEssentials
import NIOCore
import NIOFoundationEssentialsCompat
import OnesheetCache
import OnesheetCore

/// A recorded response: one JSON file per URL.
private struct RecordedAnswer: Codable {
    let url: String
    let status: Int
    let headers: [String: String]
    /// The body as text if it is UTF-8, so that people can read and edit it. Other bodies are in Base64.
    let text: String?
    let base64: Data?

    static func path(_ url: String, in folder: String) -> String {
        let digest = SHA256.hash(data: Data(url.utf8)).prefix(12)
        return folder + "/" + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + ".json"
    }
}

/// Passes requests on and records the responses without secrets.
struct RecordingTransport: HTTPTransport {
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
