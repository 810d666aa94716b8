import HTTPTypes
import OnesheetCore
import OnesheetHTTP

/// A request's identifier in logs and problem documents: the client's `X-Request-Id`, or else a random one.
package struct RequestID: CustomStringConvertible {
    /// The identifier of the current task's request.
    @TaskLocal package static var current: RequestID?

    package let description: String

    /// Uses the client's identifier if it is short and has no characters with a meaning for logs, shells or browsers.
    init(_ fields: HTTPFields) {
        if let name = fields[.requestID], (1...128).contains(name.utf8.count), name.utf8.allSatisfy(Self.isHarmless) {
            description = name
        } else {
            description = UInt64.random(in: 0...UInt64.max).hexadecimal
        }
    }

    private static func isHarmless(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._:=+/@".utf8.contains(byte)
        }
    }
}
