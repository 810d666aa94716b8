internal import OnesheetCore

/// Parses a `Cache-Control` header (RFC 9111 §5.2) leniently. Malformed values get their most cautious interpretation.
struct CacheDirectives: Equatable {
    /// Arguments by lower-case directive. `nil` if a directive has no argument.
    private var arguments: [String: String?] = [:]

    init(_ header: String) {
        var rest = Substring(header).utf8
        while !rest.isEmpty {
            let name = rest.prefix { $0 != Self.equals && $0 != Self.comma }
            rest = rest[name.endIndex...]
            var argument: String?
            if rest.first == Self.equals {
                rest = rest.dropFirst()
                argument = Self.argument(&rest)
            }
            rest = rest.drop { $0 != Self.comma }.dropFirst()
            let known = name.trimmed.lowercasedASCII()
            guard !known.isEmpty else { continue }
            // If a directive occurs twice, the smaller number counts.
            if let earlier = arguments[known], Self.seconds(earlier) <= Self.seconds(argument) { continue }
            arguments[known] = argument
        }
    }

    func has(_ name: String) -> Bool { arguments.keys.contains(name) }

    /// The seconds of directive `name`. `nil` if the directive is absent, 0 if its argument is not a number.
    func seconds(_ name: String) -> Double? {
        guard let argument = arguments[name] else { return nil }
        return Self.seconds(argument)
    }

    private static func seconds(_ text: String?) -> Double {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return 0 }
        // Larger values count as 2^31 (RFC 9111 §1.2.2).
        return min(Double(text) ?? 0, 2_147_483_648)
    }

    // Split by bytes: a combining mark after a comma would otherwise hide the next directive.
    private static let (comma, equals, quote) = (UInt8(ascii: ","), UInt8(ascii: "="), UInt8(ascii: "\""))

    private static func argument(_ rest: inout Substring.UTF8View) -> String {
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard rest.first == quote else {
            let token = rest.prefix { $0 != comma }
            rest = rest[token.endIndex...]
            return token.trimmed
        }
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst(), byte != quote {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { text.append(escaped) } else { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Substring.UTF8View {
    fileprivate var trimmed: String {
        var text = drop { $0 == 0x20 || $0 == 0x09 }
        while text.last == 0x20 || text.last == 0x09 { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }
}
