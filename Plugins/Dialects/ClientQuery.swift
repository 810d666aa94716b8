import OnesheetAddress
import OnesheetCore

/// The parameters of a client. Names have any case, and the first of several with one name counts.
struct ClientQuery {
    private static let longest = 4096
    private static let most = 64

    private var values: [String: String] = [:]

    /// - Parameter text: without the question mark.
    init(_ text: Substring) throws(RequestError) {
        guard text.utf8.count <= Self.longest else { throw .malformed("the query has more than \(Self.longest) bytes") }
        let pairs = text.pieces(at: "&")
        guard pairs.count <= Self.most else { throw .malformed("the query has more than \(Self.most) parameters") }
        for pair in pairs {
            let (name, value) = pair.cut(at: "=") ?? (pair, "")
            let key = try PercentEncoding.decode(name).lowercasedASCII()
            guard values[key] == nil else { continue }
            values[key] = try PercentEncoding.decode(value.replacing(bytesOf: "+", with: "%20"))
        }
    }

    /// The value of a parameter; `nil` if it is absent or empty.
    /// - Parameter name: in lower case.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// The whole number that `text` is; 0 if there is none.
    func number(_ text: String?, of name: String, in range: ClosedRange<Int>) throws(RequestError) -> Int {
        guard let text else { return 0 }
        guard text.utf8.count <= 6, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            range.contains(number)
        else {
            throw .bad(
                option: name, value: text.shortened(to: 64),
                reason: "needs a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

extension UInt8 {
    /// Whether it is a letter or a digit of ASCII.
    var isLetterOrDigit: Bool { (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
