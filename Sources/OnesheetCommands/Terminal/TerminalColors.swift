import FoundationEssentials

/// Colours of one output stream: for a few words of a line, and only on a terminal whose user wants them (https://no-color.org).
struct TerminalColors: Sendable {
    /// A style, as the parameter of “select graphic rendition” (ECMA-48 §8.3.117).
    enum Style: Int {
        case name = 1
        case error = 31
        case warning = 33
    }

    static let none = TerminalColors(isOn: false)

    let isOn: Bool

    private init(isOn: Bool) { self.isOn = isOn }

    /// - Parameter environment: `NO_COLOR`, if it is not empty, and a `TERM` that is absent or `dumb` switch colours off.
    init(isTerminal: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
        isOn = isTerminal && environment["NO_COLOR"] ?? "" == "" && !["", "dumb"].contains(environment["TERM"] ?? "")
    }

    /// `text`, which has no harmful characters, in a style.
    func text(_ text: String, _ style: Style) -> String { isOn ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text }
}
