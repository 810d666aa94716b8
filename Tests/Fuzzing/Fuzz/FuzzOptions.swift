import OnesheetAddress
import OnesheetCore

/// Every text gives a transform or a typed error, reproducibly.
enum FuzzOptions {
    private static let grammar = Result { () throws(RequestError) in
        try ImageOptions(formats: [.jpeg, .png], presets: ["card": "rs:fill:300:450/q:75"])
    }

    static func run(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
        let text = String(decoding: bytes, as: UTF8.self)
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
}
