/// What a `Cache-Control` header says (RFC 9111 §5.2), read leniently: what cannot be understood counts as the cautious reading of it.
struct CacheDirectives: Equatable {
    /// Names in lower case; `nil` for a directive without an argument.
    private var arguments: [String: String?] = [:]

    init(_ header: String) {
        var rest = Substring(header)
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "=" && $0 != "," }
            rest = rest.dropFirst(name.count)
            var argument: String?
            if rest.first == "=" {
                rest = rest.dropFirst()
                argument = Self.argument(&rest)
            }
            rest = rest.drop { $0 != "," }.dropFirst()
            let known = name.trimmed.lowercased()
            guard !known.isEmpty else { continue }
            // Said twice, the smaller number counts.
            if let earlier = arguments[known], Self.seconds(earlier) <= Self.seconds(argument) { continue }
            arguments[known] = argument
        }
    }

    func has(_ name: String) -> Bool { arguments.keys.contains(name) }

    /// The number of seconds after `name`; `nil` where the directive is not there. One that is no number is none at all: 0.
    func seconds(_ name: String) -> Double? {
        guard let argument = arguments[name] else { return nil }
        return Self.seconds(argument)
    }

    private static func seconds(_ text: String?) -> Double {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return 0 }
        // RFC 9111 §1.2.2: what is too large counts as 2^31.
        return min(Double(text) ?? 0, 2_147_483_648)
    }

    private static func argument(_ rest: inout Substring) -> String {
        rest = rest.drop { $0 == " " || $0 == "\t" }
        guard rest.first == "\"" else {
            let token = rest.prefix { $0 != "," }
            rest = rest.dropFirst(token.count)
            return token.trimmed
        }
        rest = rest.dropFirst()
        var text = ""
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\", let escaped = rest.popFirst() { text.append(escaped) } else { text.append(character) }
        }
        return text
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text)
    }
}
