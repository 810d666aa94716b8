internal import OnesheetCore

/// The path of an object below the folder. Each part of the name is one part of the path, so a path cannot leave the folder.
///
/// ASCII letters and digits, `-`, `_` and `.` stay; every other byte, and a `.` at the beginning of a part, becomes `%` and two
/// hexadecimal digits. An empty part becomes a single `%`. So no part of a path is `.`, `..` or hidden: hidden names are the store's own.
struct ObjectPath: Sendable {
    let name: String
    /// The parts of the path; the last is the file.
    let parts: [String]

    /// The most bytes of a file's name on the usual file systems.
    private static let longestPart = 255

    /// - Throws: `StoreError.invalidName` if the name is empty or too long.
    init(_ name: String) throws(StoreError) {
        guard (1...1024).contains(name.utf8.count) else { throw .invalidName(name) }
        parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Self.encoded($0) }
        guard parts.allSatisfy({ $0.utf8.count <= Self.longestPart }) else { throw .invalidName(name) }
        self.name = name
    }

    /// One part of a name as a part of a path.
    static func encoded(_ part: some Collection<UInt8>) -> String {
        guard !part.isEmpty else { return "%" }
        var text: [UInt8] = []
        for (index, byte) in part.enumerated() {
            if isPlain(byte), index > 0 || byte != UInt8(ascii: ".") {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a part of a name; `nil` if the store does not write such a path.
    static func decoded(_ text: String) -> [UInt8]? {
        guard text != "%" else { return [] }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(value(of:)), let low = rest.popFirst().flatMap(value(of:)) else { return nil }
            bytes.append(high << 4 | low)
        }
        // Only one spelling counts, so that no object has two names. A name is text.
        return encoded(bytes) == text && String(validating: bytes, as: UTF8.self) != nil ? bytes : nil
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 48...57: digit - 48
        case 65...70: digit - 55
        default: nil
        }
    }
}
