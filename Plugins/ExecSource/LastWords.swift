internal import FoundationEssentials
internal import OnesheetCore

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// What a program wrote last to standard error, bounded, for the message about its end.
struct LastWords: Sendable {
    private static let lines = 20
    private static let lineBytes = 300
    /// The lines of a message.
    private static let told = 3

    private var kept: [String] = []

    mutating func add(_ line: Data) {
        // A cut in the middle of a character leaves a replacement character.
        let text = String(decoding: line.prefix(Self.lineBytes), as: UTF8.self) + (line.count > Self.lineBytes ? "…" : "")
        guard text.contains(where: { !$0.isWhitespace }) else { return }
        kept.append(text)
        if kept.count > Self.lines { kept.removeFirst() }
    }

    /// The last line that names an error, with up to two lines after it, or else the last line; `nil` if there is none. Languages put the
    /// cause in different places: Python in the last line, Node, Go and Rust above the calls that led to it. Those are indented.
    var text: String? {
        guard let last = kept.indices.last else { return nil }
        let start = kept.lastIndex(where: Self.namesError) ?? last
        return kept[start...min(last, start + Self.told - 1)].map { Self.trimmed($0).escaped.shortened(to: Self.lineBytes) }.joined(
            separator: " / ")
    }

    private static func namesError(_ line: String) -> Bool {
        guard let first = line.first, !first.isWhitespace else { return false }
        let line = line.lowercased()
        return ["error", "exception", "panic", "fatal"].contains { line.contains($0) }
    }

    private static func trimmed(_ line: String) -> String {
        guard let start = line.firstIndex(where: { !$0.isWhitespace }), let end = line.lastIndex(where: { !$0.isWhitespace }) else {
            return ""
        }
        return String(line[start...end])
    }
}

/// The name of a signal, such as `SIGSEGV`, or else its number.
func signalName(_ number: Int32) -> String {
    let names: [Int32: String] = [
        SIGABRT: "SIGABRT", SIGALRM: "SIGALRM", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGHUP: "SIGHUP", SIGILL: "SIGILL",
        SIGINT: "SIGINT", SIGKILL: "SIGKILL", SIGPIPE: "SIGPIPE", SIGQUIT: "SIGQUIT", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS",
        SIGTERM: "SIGTERM", SIGTRAP: "SIGTRAP", SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ",
    ]
    return names[number] ?? "\(number)"
}
