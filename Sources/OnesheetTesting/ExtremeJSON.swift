/// JSON documents with values that no service should send, in one position at a time.
public enum ExtremeJSON {
    /// Numbers at and beyond the limits of machines, texts that parse as such numbers, null, and other types.
    public static let values = [
        "1e300", "-1e300", "1e-300", "-0", "0", "-1", "0.1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "-9223372036854775809", "1e999", #""nan""#, #""inf""#, #""-infinity""#, #""0x1p3""#, #""1e300""#, #""9223372036854775807""#,
        #""-9223372036854775808""#, #""9223372036854775808""#, #""""#, #"" ""#, "null", "true", "[]", "{}", "[[[[1]]]]",
        #"{"a":{"b":[1e300]}}"#, #""\u0000""#, #""\ud800""#, #""<\u0301>""#, #""99999999-99-99""#, "NaN",
    ]

    /// `document` with each value in the position of each text, number and literal that is not a name.
    public static func variants(of document: String) -> [String] {
        places(in: Array(document.utf8)).flatMap { place in
            values.map { value in
                let bytes = Array(document.utf8)
                return String(decoding: bytes[..<place.lowerBound] + Array(value.utf8) + bytes[place.upperBound...], as: UTF8.self)
            }
        }
    }

    private static func places(in bytes: [UInt8]) -> [Range<Int>] {
        var places: [Range<Int>] = []
        var position = 0
        while position < bytes.count {
            let end = end(of: position, in: bytes)
            let next = bytes[end...].first { $0 != 0x20 && $0 != 0x0A }
            if end > position + 1 || isPlain(bytes[position]), next != UInt8(ascii: ":") { places.append(position..<end) }
            position = end
        }
        return places
    }

    /// The end of the text, number or literal that starts at `start`; otherwise the next byte.
    private static func end(of start: Int, in bytes: [UInt8]) -> Int {
        var end = start + 1
        if bytes[start] == UInt8(ascii: "\"") {
            while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
            return min(end + 1, bytes.count)
        }
        if isPlain(bytes[start]) { while end < bytes.count, isPlain(bytes[end]) { end += 1 } }
        return end
    }

    /// Whether the byte can be part of a number or a literal.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "E") || byte == UInt8(ascii: "+")
    }
}
