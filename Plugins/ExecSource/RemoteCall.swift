internal import FoundationEssentials
internal import OnesheetCore

/// A call to the program as one line of JSON-RPC 2.0 (<https://www.jsonrpc.org/specification>).
struct RemoteCall: Sendable, Encodable {
    var jsonrpc = "2.0"
    let id: Int
    let method: String
    let params: JSONValue

    /// The line with its terminator.
    func line() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}

/// The program's answer to a call.
struct RemoteAnswer: Sendable {
    let id: Int
    let result: JSONValue?
    let error: RemoteFault?

    /// Parses a line; `nil` if it is not an answer.
    init?(line: Data) {
        guard case .object(let members)? = Self.read(line), case .integer(let id)? = members["id"] else { return nil }
        self.id = id
        result = members["result"]
        switch members["error"] {
        case nil, .null?: error = nil
        case let value?:
            guard let fault = RemoteFault(value) else { return nil }
            error = fault
        }
    }

    private static func read(_ line: Data) -> JSONValue? {
        do { return try JSONValue(reading: line) } catch { return nil }
    }
}

/// An error in the program's answer. The codes are our own, in the range that JSON-RPC reserves for servers.
struct RemoteFault: Sendable {
    let code: Int
    let message: String
    let data: JSONValue?

    /// `nil` if the value is not an error.
    init?(_ value: JSONValue) {
        guard case .object(let members) = value, case .integer(let code)? = members["code"],
            case .string(let message)? = members["message"]
        else { return nil }
        self.code = code
        self.message = message
        data = members["data"]
    }

    /// The message is among the details: a program may have put its own error there, with a password or a path.
    /// - Parameter id: the id of the requested title.
    func sourceError(_ id: String?) -> SourceError {
        switch code {
        case -32_001:
            return id.map(SourceError.notFound)
                ?? .malformedAnswer(reason: "the program answers a list with “not found”", details: message)
        case -32_002: return .unauthorized(message: message)
        case -32_003:
            guard case .object(let members)? = data, let until = members["until"]?.seconds else {
                return .quotaExhausted(until: nil)
            }
            return .quotaExhausted(until: until)
        case -32_004: return .failed(reason: "the program says so (\(code))", details: message)
        case -32_006:
            guard case .object(let members)? = data, let seconds = members["retryAfter"]?.seconds else {
                return .rateLimited(retryAfter: 1)
            }
            return .rateLimited(retryAfter: Int(saturating: seconds.rounded(.up)))
        case -32_005, -32_601: return .unsupported("this call, by the program (\(code))", details: message)
        default: return .failed(reason: "the program rejected the call (\(code))", details: message)
        }
    }
}

extension JSONValue {
    fileprivate var seconds: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }
}
