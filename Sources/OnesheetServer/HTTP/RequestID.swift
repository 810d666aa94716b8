import HTTPTypes
import OnesheetCore
import OnesheetHTTP

extension HTTPFields {
    /// A request's identifier in logs and problem documents: the client's `X-Request-Id` if it is short and has no characters with a meaning
    /// for logs, shells or browsers, or else a random one.
    var requestIdentifier: String {
        if let name = self[.requestID], (1...128).contains(name.utf8.count), name.utf8.allSatisfy(Self.isHarmless) { return name }
        return UInt64.random(in: 0...UInt64.max).hexadecimal
    }

    private static func isHarmless(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._:=+/@".utf8.contains(byte)
        }
    }
}
