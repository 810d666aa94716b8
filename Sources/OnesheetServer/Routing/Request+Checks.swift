import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOFoundationEssentialsCompat
import OnesheetCore
import OnesheetHTTP

/// The JSON body of a request. Each of its keys is a case of `CodingKeys`.
protocol JSONBody: Decodable {
    associatedtype CodingKeys: CodingKey, CaseIterable
}

extension RequestContext {
    /// Decodes the JSON body, up to 1 MiB. Only now a client that waits for it is asked to send it.
    /// - Parameter example: a valid body, for the error message.
    /// - Throws: `RequestError`, also for an unknown key, which would otherwise be ignored.
    func decodeBody<Body: JSONBody>(_ type: Body.Type, example: String) async throws -> Body {
        let bytes: ByteBuffer
        let limit = 1 << 20
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw Problem.bodyTooLarge(limit: limit) }
        if headers[.expect]?.lowercased() == "100-continue" { client.askForBody() }
        do {
            bytes = try await request.body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw Problem.bodyTooLarge(limit: limit)
        } catch {
            // The client has left; do not report a server error.
            throw Problem.bodyIncomplete(error)
        }
        do {
            return try JSONDecoder().decode(CheckedBody<Body>.self, from: Data(buffer: bytes)).body
        } catch let error as RequestError {
            throw error
        } catch {
            throw RequestError.malformed("the body is not JSON such as \(example): \(Self.reason(error))")
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, _): "“\(key.stringValue)” is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty
                ? "it is not an object"
                : "“\(context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "."))” has another type"
        default: "it cannot be parsed"
        }
    }

}

extension Request {
    /// The checked query of a request that changes something.
    /// - Parameter flags: parameters without a value.
    /// - Parameter values: parameters with a value.
    /// - Throws: `RequestError` if a parameter is unknown or repeated, or if a flag has a value that may mean “no”.
    @discardableResult
    func checkedQuery(
        flags: [String] = [], values: [String] = []
    ) throws(RequestError) -> FlatDictionary<Substring, Substring> {
        let query = uri.comparableParameters
        var seen: Set<String> = []
        for (key, value) in query {
            let name = String(key)
            guard (flags + values).contains(where: { $0.isExactly(name) }) else {
                guard flags.isEmpty, values.isEmpty else {
                    throw .unknown(unknownName(name, kind: "parameter", known: flags + values))
                }
                throw .unknown("unknown parameter “\(name)”: this request takes none in its query")
            }
            guard seen.insert(name).inserted else { throw .malformed("the query has “\(name)” more than once") }
            guard values.contains(name) || ["", "1", "true"].contains(value) else {
                throw .bad(option: name, value: String(value), reason: "is not a value of a flag; leave it out, or the whole flag")
            }
        }
        return query
    }
}

/// A body without unknown keys.
private struct CheckedBody<Body: JSONBody>: Decodable {
    let body: Body

    init(from decoder: any Decoder) throws {
        let known = Body.CodingKeys.allCases.map(\.stringValue)
        let names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        // The same one each time, although a decoder has no order.
        if let unknown = names.filter({ name in !known.contains { $0.isExactly(name) } }).min() {
            throw RequestError.unknown(unknownName(unknown, kind: "key", known: known))
        }
        body = try Body(from: decoder)
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension URI {
    /// The parameters of the query as forms and `URLSearchParams` write them, with `+` for a space (WHATWG URL §5.1).
    var formParameters: FlatDictionary<Substring, Substring> {
        guard let query, query.utf8.contains(UInt8(ascii: "+")) else { return comparableParameters }
        return URI("/?\(query.replacing(bytesOf: "+", with: "%20"))").comparableParameters
    }

    /// The parameters of the query, decoded, with values that can be compared fast. Their names are not decoded.
    fileprivate var comparableParameters: FlatDictionary<Substring, Substring> {
        let parameters = queryParameters
        guard parameters.contains(where: { !String($0.value).isStreamSafe }) else { return parameters }
        var comparable = FlatDictionary<Substring, Substring>()
        for (name, value) in parameters { comparable.append(key: name, value: String(value).streamSafe[...]) }
        return comparable
    }
}
