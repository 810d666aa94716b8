import CFuzzing
import Foundation
import ImageGrammar
import OnesheetCore

private let grammar = Result { () throws(RequestError) in
    try ImageOptions(formats: [.jpeg, .png], presets: ["card": "rs:fill:300:450/q:75"])
}

/// Any text is a transform or a typed error, and the same each time.
private func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    do throws(RequestError) {
        let parsed = try grammar.get().parse(text)
        let again = try grammar.get().parse(text)
        precondition(parsed == again, "read twice, read differently")
        precondition((1...100).contains(parsed.transform.quality) && parsed.transform.width >= 0, "out of range")
    } catch {
        precondition(!error.description.isEmpty, "an error without words")
    }
    return 0
}

@main
enum FuzzOptions {
    static func main() { exit(cfuzzing_run(CommandLine.argc, CommandLine.unsafeArgv) { fuzz($0, $1) }) }
}
