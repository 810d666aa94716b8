import OnesheetHTTP
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import OnesheetCache

extension Response {
    /// The head as HTTP/1.1 (RFC 9112 §4) sends it to whoever does not name an origin.
    func head(_ cors: CORS, at now: Date) -> ByteBuffer {
        var buffer = ByteBuffer()
        var headers = headers
        cors.apply(to: &headers, origin: nil)
        buffer.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        for field in headers where status != .notModified || field.name != .contentLength {
            buffer.writeString("\(field.name.rawName): \(field.value)\r\n")
        }
        buffer.writeString("\(HTTPField.Name.date.rawName): \(HTTPDate.text(now))\r\n\r\n")
        return buffer
    }
}
