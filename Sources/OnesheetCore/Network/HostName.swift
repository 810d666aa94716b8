/// The name of a host as DNS knows it: names beyond ASCII in Punycode (RFC 5891, RFC 3492), as browsers ask for them.
///
/// Only names whose spelling leaves no choice are converted: letters in lower or upper case, marks, digits and symbols. Those that browsers
/// replace by other characters first, such as full-width letters or letters with separate accents, are refused. People can write such a
/// name in Punycode.
enum HostName {
    /// The longest label and the longest name (RFC 1035 §2.3.4).
    private static let (longestLabel, longest) = (63, 253)

    /// The name in ASCII and lower case; `nil` for one that cannot be converted.
    static func ascii(_ name: Substring) -> String? {
        // No character takes more than four bytes, and each takes at least one in Punycode.
        guard name.utf8.count <= 4 * longest else { return nil }
        var labels: [String] = []
        for label in name.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: { isDot($0) }) {
            guard let label = self.label(label) else { return nil }
            labels.append(label)
        }
        let ascii = labels.joined(separator: ".")
        // An empty label is only the one behind the last dot.
        guard !labels.dropLast().contains(""), ascii.utf8.count <= longest else { return nil }
        return ascii
    }

    /// The dots of UTS #46 §2.3.
    private static func isDot(_ scalar: Unicode.Scalar) -> Bool { [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"].contains(scalar) }

    private static func label(_ text: Substring.UnicodeScalarView) -> String? {
        var scalars: [Unicode.Scalar] = []
        for scalar in text {
            for lower in scalar.properties.lowercaseMapping.unicodeScalars {
                guard isPlain(lower) else { return nil }
                scalars.append(lower)
            }
        }
        guard scalars.contains(where: { !$0.isASCII }) else { return String(String.UnicodeScalarView(scalars)) }
        guard let first = scalars.first, !isMark(first), first != "-", scalars.last != "-" else { return nil }
        guard let coded = punycode(scalars), coded.utf8.count + 4 <= longestLabel else { return nil }
        return "xn--" + coded
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
    }

    /// Whether every browser takes the character as it is.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) || scalar == "-" || scalar == "_" }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .decimalNumber, .nonspacingMark, .spacingMark, .otherSymbol: break
        default: return false
        }
        // Sharp s and final sigma stay since IDNA 2008; other characters that folding changes are replaced.
        guard !properties.changesWhenNFKCCaseFolded || scalar == "ß" || scalar == "ς" else { return false }
        switch scalar.value {
        // Parts of Hangul syllables, and marks of kana, which form one character with what is before them.
        case 0x1100...0x11FF, 0x3099, 0x309A: return false
        // Accents above and below, which do too.
        default: return !(202...240).contains(properties.canonicalCombiningClass.rawValue)
        }
    }

    /// Punycode (RFC 3492 §6.3) with the parameters of §5; `nil` if a number would not fit.
    private static func punycode(_ scalars: [Unicode.Scalar]) -> String? {
        let (base, least, most) = (36, 1, 26)
        var output = scalars.filter(\.isASCII).map { UInt8($0.value) }
        var (done, point, delta, bias) = (output.count, 128, 0, 72)
        let basic = done
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        while done < scalars.count {
            guard let next = scalars.lazy.map({ Int($0.value) }).filter({ $0 >= point }).min() else { return nil }
            // A label has at most a thousand characters of 21 bits each.
            delta += (next - point) * (done + 1)
            point = next
            for scalar in scalars {
                if scalar.value < point { delta += 1 }
                guard scalar.value == point else { continue }
                var rest = delta
                for k in stride(from: base, to: .max, by: base) {
                    let threshold = min(max(k - bias, least), most)
                    if rest < threshold { break }
                    output.append(digit(threshold + (rest - threshold) % (base - threshold)))
                    rest = (rest - threshold) / (base - threshold)
                }
                output.append(digit(rest))
                bias = adapted(delta, to: done + 1, isFirst: done == basic)
                delta = 0
                done += 1
            }
            delta += 1
            point += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func digit(_ value: Int) -> UInt8 { UInt8(value < 26 ? 97 + value : 22 + value) }

    /// The next bias (RFC 3492 §6.1).
    private static func adapted(_ delta: Int, to points: Int, isFirst: Bool) -> Int {
        var (delta, k) = (isFirst ? delta / 700 : delta / 2, 0)
        delta += delta / points
        while delta > 35 * 26 / 2 {
            delta /= 35
            k += 36
        }
        return k + 36 * delta / (delta + 38)
    }
}
