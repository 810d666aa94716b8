import FoundationEssentials
import OnesheetCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Unbuffered standard input, output and error.
enum StandardStreams {
    /// Writes one line; characters that break it or change its appearance are escaped.
    static func output(_ line: String) { write(line.escaped, to: STDOUT_FILENO) }
    /// The same, to standard error.
    static func error(_ line: String) { write(line.escaped, to: STDERR_FILENO) }
    /// Writes one line to standard error that begins with `head` in a style.
    static func error(_ head: String, as style: TerminalColors.Style, _ rest: String) {
        write(errorColors.text(head.escaped, style) + rest.escaped, to: STDERR_FILENO)
    }
    /// Writes one line to standard output that begins with `head` in a style.
    static func output(_ head: String, as style: TerminalColors.Style, _ rest: String) {
        write(outputColors.text(head.escaped, style) + rest.escaped, to: STDOUT_FILENO)
    }
    /// Writes an error of the configuration. Editors jump to lines that begin with a place.
    static func error(_ error: ConfigurationError) {
        let place = error.place.map { "\($0):" } ?? "onesheet:"
        let path = error.path.isEmpty ? "" : errorColors.text("\(error.path):".escaped, .name) + " "
        write(errorColors.text(place.escaped, .error) + " " + path + error.message.escaped, to: STDERR_FILENO)
    }
    /// Writes a row of a table.
    static func output(row cells: [String]) { write(TerminalText.row(cells), to: STDOUT_FILENO) }
    /// Writes text of several lines.
    static func output(lines text: String) { write(TerminalText.lines(text), to: STDOUT_FILENO) }
    /// The same, to standard error.
    static func error(lines text: String) {
        let head = "Error:"
        let isError = text.starts(withBytesOf: head)
        let rest = isError ? String(text.dropFirst(bytes: head.utf8.count)) : text
        write((isError ? errorColors.text(head, .error) : "") + TerminalText.lines(rest), to: STDERR_FILENO)
    }
    /// Writes a JSON document.
    static func output(json document: String) { write(TerminalText.json(document), to: STDOUT_FILENO) }
    /// Writes `document` as JSON, with a newline at the end.
    static func output(document: some Encodable) throws {
        output(json: String(decoding: try JSONEncoder.document.encode(document), as: UTF8.self))
    }
    /// Writes bytes as they are: a picture or an archive.
    static func output(_ bytes: [UInt8]) { write(bytes, to: STDOUT_FILENO) }

    /// Writes to standard error without a newline.
    static func progress(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    /// The width of the terminal behind standard error; unlimited if it does not say.
    static var errorColumns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return .max }
        return Int(size.ws_col)
    }

    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    static var errorColors: TerminalColors { TerminalColors(isTerminal: errorIsTerminal) }
    private static var outputColors: TerminalColors { TerminalColors(isTerminal: isatty(STDOUT_FILENO) == 1) }

    /// - Throws: `FileError` if standard output is a terminal, because a picture or an archive would garble it.
    static func requireNoTerminal() throws {
        guard isatty(STDOUT_FILENO) != 1 else {
            throw FileError("standard output is a terminal; name a file, pipe the output, or add --force")
        }
    }

    /// Reads standard input to its end. `nil` if it is longer than `limit` bytes.
    static func input(limit: Int) -> [UInt8]? {
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(STDIN_FILENO, &chunk, chunk.count)
            if count <= 0 { return all }
            all += chunk[..<count]
            if all.count > limit { return nil }
        }
    }

    /// Writes `text`, which has no harmful characters, with a newline.
    private static func write(_ text: String, to file: Int32) { write(Array((text + "\n").utf8), to: file) }

    private static func write(_ bytes: [UInt8], to file: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(to: file, $0.baseAddress, count: $0.count) }
            if count < 0 && errno != EINTR { return }
            rest = rest.dropFirst(max(0, count))
        }
    }

    private static func systemWrite(to file: Int32, _ bytes: UnsafeRawPointer?, count: Int) -> Int {
        #if canImport(Glibc)
            Glibc.write(file, bytes, count)
        #elseif canImport(Musl)
            Musl.write(file, bytes, count)
        #else
            Darwin.write(file, bytes, count)
        #endif
    }
}
