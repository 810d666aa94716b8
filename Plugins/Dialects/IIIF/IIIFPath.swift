import OnesheetAddress
import OnesheetCore

/// Region, size, rotation, quality and format of an IIIF image, to the extent of level 2.
struct IIIFPath {
    /// In Onesheet's grammar.
    private(set) var options: [String] = []
    /// The required size of the output: IIIF does not allow a smaller picture than requested.
    private(set) var exactly: PixelSize?

    /// The longest side in the grammar of options.
    private static let longest = 65_535

    private static let qualities =
        [
            "default": nil, "color": nil, "gray": "gray:1", "bitonal": "bitonal:1",
        ] as [Substring: String?]

    /// - Parameter parts: the four parts, percent-encoded.
    init(_ parts: ArraySlice<Substring>) throws(RequestError) {
        var texts: [String] = []
        for part in parts { texts.append(try PercentEncoding.decode(part)) }
        try add(region: texts[0])
        let swapsSides = try add(rotation: texts[2])
        try add(size: texts[1], swapsSides: swapsSides)
        let file = texts[3].pieces(at: ".", omittingEmptySubsequences: false)
        guard file.count == 2, let quality = Self.qualities[file[0]] else {
            throw .bad(
                option: "quality", value: texts[3],
                reason: "needs default, color, gray or bitonal, with a format, such as default.jpg")
        }
        if let quality { options.append(quality) }
        options.append("format:\(file[1])")
    }

    private mutating func add(region text: String) throws(RequestError) {
        if text == "full" { return }
        if text == "square" { return options.append("square:1") }
        if text.starts(withBytesOf: "pct:") { return try add(region: text, inPercent: text.dropFirst(bytes: 4)) }
        guard let numbers = Self.numbers(text[...]), numbers.count == 4, let x = numbers[0], let y = numbers[1],
            let width = numbers[2], let height = numbers[3], width > 0, height > 0
        else { throw .bad(option: "region", value: text, reason: "needs full, square, x,y,w,h in pixels or pct:x,y,w,h") }
        // A region ends at the picture's edge, and no picture is larger.
        options.append("crop:\(min(width, Self.longest)):\(min(height, Self.longest)):nowe:\(x):\(y)")
    }

    private mutating func add(region text: String, inPercent numbers: Substring) throws(RequestError) {
        var parts: [Double] = []
        for part in numbers.pieces(at: ",", omittingEmptySubsequences: false) {
            guard let number = Self.decimal(part) else { break }
            parts.append(number / 100)
        }
        guard parts.count == 4, numbers.pieces(at: ",", omittingEmptySubsequences: false).count == 4, parts[0] < 1, parts[1] < 1,
            parts[2] > 0, parts[3] > 0
        else {
            throw .bad(
                option: "region", value: text, reason: "needs pct: with x,y,w,h in percent, of which a part is in the image")
        }
        // Parts outside the picture are cut off. 0 is the whole side.
        let (width, height) = (min(parts[2], 1 - parts[0]), min(parts[3], 1 - parts[1]))
        if width >= 1, height >= 1 { return }
        func side(_ length: Double) -> Double { length < 1 ? length : 0 }
        options.append("crop:\(side(width)):\(side(height)):nowe:\(parts[0]):\(parts[1])")
    }

    /// - Returns: whether the sides of the output are swapped.
    private mutating func add(rotation text: String) throws(RequestError) -> Bool {
        let isMirrored = text.starts(withBytesOf: "!")
        guard let degrees = Self.decimal(text.dropFirst(bytes: isMirrored ? 1 : 0)), degrees <= 360,
            degrees.truncatingRemainder(dividingBy: 90) == 0
        else {
            throw .bad(option: "rotation", value: text, reason: "needs 0, 90, 180 or 270, with ! before it for a mirrored image")
        }
        let turn = Int(degrees) % 360
        // IIIF mirrors first, this grammar rotates first.
        let rotation = isMirrored ? (360 - turn) % 360 : turn
        if rotation != 0 { options.append("rotate:\(rotation)") }
        if isMirrored { options.append("flip:1:0") }
        return turn % 180 != 0
    }

    /// - Parameter swapsSides: whether the picture is rotated afterwards. This grammar has the sides of the rotated picture.
    private mutating func add(size text: String, swapsSides: Bool) throws(RequestError) {
        if text == "max" { return }
        if text.starts(withBytesOf: "pct:") {
            guard let percent = Self.decimal(text.dropFirst(bytes: 4)), percent >= 0.01, percent <= 100 else {
                throw .bad(option: "size", value: text, reason: "needs pct: with 0.01 to 100 percent; nothing is enlarged")
            }
            if percent < 100 { options.append("zoom:\(percent / 100)") }
            return
        }
        let isConfined = text.starts(withBytesOf: "!")
        guard let sides = Self.numbers(text.dropFirst(bytes: isConfined ? 1 : 0)), sides.count == 2,
            isConfined ? !sides.contains(nil) : sides.contains(where: { $0 != nil }), !sides.contains(0)
        else {
            throw .bad(
                option: "size", value: text, reason: "needs max, pct:n, or pixels as w, or ,h or w,h or !w,h; nothing is enlarged")
        }
        var (width, height) = (sides[0] ?? 0, sides[1] ?? 0)
        if swapsSides { (width, height) = (height, width) }
        // The picture fits into these sides, so larger ones are the same.
        if isConfined { (width, height) = (min(width, Self.longest), min(height, Self.longest)) }
        if !isConfined, width > 0, height > 0 { options.append("resizing_type:force") }
        options += ["width:\(width)", "height:\(height)"]
        if !isConfined { exactly = PixelSize(width: width, height: height) }
    }

    /// A decimal number without sign and exponent; `nil` for anything else.
    private static func decimal(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(text), number.isFinite else {
            return nil
        }
        return number
    }

    /// Whole numbers separated by commas, `nil` for a missing one; `nil` if anything else is there.
    private static func numbers(_ text: Substring) -> [Int?]? {
        var numbers: [Int?] = []
        for part in text.pieces(at: ",", omittingEmptySubsequences: false) {
            let number = part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
            guard number != nil || part.isEmpty else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}
