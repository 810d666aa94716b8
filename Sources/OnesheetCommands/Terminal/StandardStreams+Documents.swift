import FoundationEssentials
import OnesheetCore

extension StandardStreams {
    /// Writes `document` as JSON, with a newline at the end.
    static func output(document: some Encodable) throws {
        output(json: String(decoding: try JSONEncoder.document.encode(document), as: UTF8.self))
    }
}
