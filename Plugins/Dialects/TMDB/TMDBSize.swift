import OnesheetCore

/// A size in TMDB's addresses: `w342`, `h632`, `w600_and_h900_bestv2`, `w780_filter(duotone,ffffff,bababa)`, `original`.
struct TMDBSize {
    /// In Onesheet's grammar; empty for the original.
    let options: [String]
    /// Whether it is one of TMDB's sizes, or of those that its site and clients use.
    let isUsual: Bool

    /// Beside the sizes of `/3/configuration`, those that public code of clients asks for.
    private static let usual: Set<String> = [
        "w45", "w92", "w154", "w185", "w200", "w300", "w342", "w400", "w500", "w600", "w780", "w1280", "w1920",
        "h30", "h50", "h60", "h100", "h632",
        "w66_and_h66", "w94_and_h141", "w130_and_h195", "w138_and_h175", "w220_and_h330", "w227_and_h127", "w235_and_h235",
        "w276_and_h350", "w300_and_h450", "w355_and_h200", "w440_and_h660", "w533_and_h300", "w600_and_h900", "w1066_and_h600",
        "w1440_and_h320", "w1920_and_h427", "w1920_and_h800", "w3840_and_h2160",
    ]

    /// - Parameter text: decoded.
    init(_ text: String) throws(RequestError) {
        let plain = try Self.withoutFilter(text[...])
        if plain == "original" {
            (options, isUsual) = ([], true)
            return
        }
        // `w600_and_h900_bestv2`: two sides, and how the picture is cut.
        guard let (sides, cut) = Self.cut(plain) else { throw Self.unknown(text) }
        let parts = sides.pieces(at: "_", omittingEmptySubsequences: false)
        isUsual = Self.usual.contains(String(sides))
        switch (parts.count, parts.count == 3 && parts[1] == "and") {
        case (1, _):
            guard let side = Self.side(sides), cut.isEmpty else { throw Self.unknown(text) }
            options = [side]
        case (3, true):
            guard let width = Self.side(parts[0]), let height = Self.side(parts[2]), width.first == "w", height.first == "h" else {
                throw Self.unknown(text)
            }
            // Faces are not found here, but the most lively part is.
            options = ["resizing_type:fill", width, height] + (cut.contains("face") ? ["gravity:sm"] : [])
        default: throw Self.unknown(text)
        }
    }

    /// The sides before the manner of the cut.
    private static func cut(_ text: Substring) -> (sides: Substring, cut: Substring)? {
        for manner in ["_bestv2", "_multi_faces", "_face"] where text.ends(withBytesOf: manner) {
            return (text.dropLast(manner.count), text.suffix(manner.count))
        }
        return (text, "")
    }

    /// The size without a filter, which this server does not apply: `_filter(negate,000,666)`.
    private static func withoutFilter(_ text: Substring) throws(RequestError) -> Substring {
        guard let filter = text.firstRange(ofBytesOf: "_filter(") else { return text }
        let names = text[filter.upperBound...]
        let isFilter =
            names.utf8.count <= 40
            && names.utf8.dropLast().allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: ",")
            }
        guard isFilter, names.ends(withBytesOf: ")") else { throw unknown(String(text)) }
        return text[..<filter.lowerBound]
    }

    /// `w342` as an option; `nil` if it is not a side.
    private static func side(_ text: Substring) -> String? {
        guard let first = text.first, first == "w" || first == "h", case let digits = text.dropFirst(bytes: 1),
            (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let pixels = Int(digits),
            pixels > 0
        else { return nil }
        return "\(first):\(pixels)"
    }

    private static func unknown(_ text: String) -> RequestError {
        .unknown(
            "unknown size “\(text.shortened(to: 64))”: TMDB has sizes such as w342, h632, w600_and_h900_bestv2 and original")
    }
}
