import OnesheetCore

/// Text for a terminal, in which words from outside cannot change its appearance or forge lines. They come from arguments, addresses,
/// sources and the cache. A line of words needs no more than `escaped`, as in the log.
enum TerminalText {
    /// A row of a table: `cells` with tabs between them.
    static func row(_ cells: [String]) -> String { cells.map(\.escaped).joined(separator: "\t") }

    /// Text of several lines, which keeps its newlines and tabs. Not for text in which strangers can place newlines.
    static func lines(_ text: String) -> String {
        text.escaped { $0 == "\n" || $0 == "\t" ? String($0) : String($0).escaped }
    }

    /// `message` with the arguments that it quotes escaped, because line ends in them would forge lines.
    static func escaping(_ arguments: [String], in message: String) -> String {
        let quoted = arguments + arguments.compactMap { $0.cut(at: "=").map { String($0.after) } }
        return quoted.reduce(message) { text, argument in
            let escaped = argument.escaped
            return escaped == argument ? text : text.replacing(argument, with: escaped)
        }
    }

    /// A JSON document with its newlines. All other characters to escape are inside strings, where escapes are always allowed (RFC 8259 §7).
    static func json(_ document: String) -> String { document.escaped { $0 == "\n" ? "\n" : jsonEscape($0) } }

    /// The escape of `scalar` in a string of JSON.
    static func jsonEscape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { "\\u" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined()
    }
}
