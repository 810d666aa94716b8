/// A reply of an engine in RESP2 (<https://valkey.io/topics/protocol/>).
package enum RESPValue: Sendable, Equatable {
    case simple(String)
    /// Begins with a word in capitals: `NOAUTH Authentication required.`
    case error(String)
    case integer(Int)
    case bulk([UInt8])
    case null
    case array([RESPValue])

    /// The text of a simple or bulk string. Bytes that are not UTF-8 are replaced.
    package var text: String? {
        switch self {
        case .simple(let text): text
        case .bulk(let bytes): String(decoding: bytes, as: UTF8.self)
        default: nil
        }
    }

    var integer: Int? {
        if case .integer(let number) = self { return number }
        return nil
    }

    var array: [RESPValue]? {
        if case .array(let values) = self { return values }
        return nil
    }

    var error: String? {
        if case .error(let text) = self { return text }
        return nil
    }
}

/// The bytes of an engine are not RESP2, or exceed a limit.
package struct RESPError: Error, Sendable, Equatable {
    package let reason: String
}
