import OnesheetAddress
import OnesheetCore

/// Region, size, rotation, quality and format of an IIIF image, to the extent of level 1.
struct IIIFPath {
    /// In Onesheet's grammar.
    private(set) var options: [String] = []
    /// The required size of the output: IIIF does not allow a smaller picture than requested.
    private(set) var exactly: PixelSize?

    /// - Parameter parts: the four parts, percent-encoded.
    init(_ parts: ArraySlice<Substring>) throws(RequestError) {
        var texts: [String] = []
        for part in parts { texts.append(try PercentEncoding.decode(part)) }
        let isSquare = texts[0] == "square"
        if !isSquare, texts[0] != "full" { try add(region: texts[0]) }
        try add(size: texts[1], isSquare: isSquare)
        guard texts[2] == "0" else { throw .bad(option: "rotation", value: texts[2], reason: "needs 0") }
        let file = texts[3].pieces(at: ".", omittingEmptySubsequences: false)
        guard file.count == 2, ["default", "color"].contains(file[0]) else {
            throw .bad(option: "quality", value: texts[3], reason: "needs default or color, with a format, such as default.jpg")
        }
        options.append("format:\(file[1])")
    }

    private mutating func add(region text: String) throws(RequestError) {
        guard let numbers = Self.numbers(text[...]), numbers.count == 4, let x = numbers[0], let y = numbers[1],
            let width = numbers[2],
            let height = numbers[3], width > 0, height > 0
        else { throw .bad(option: "region", value: text, reason: "needs full, square or x,y,w,h in pixels") }
        options.append("crop:\(width):\(height):nowe:\(x):\(y)")
    }

    private mutating func add(size text: String, isSquare: Bool) throws(RequestError) {
        if text == "max" {
            // The largest square of a picture. No picture is as large as the box.
            if isSquare { options += ["resizing_type:fill-down", "width:65535", "height:65535"] }
            return
        }
        let isConfined = text.starts(withBytesOf: "!")
        guard let sides = Self.numbers(text.dropFirst(bytes: isConfined ? 1 : 0)), sides.count == 2,
            isConfined ? !sides.contains(nil) : sides.contains(where: { $0 != nil }), !sides.contains(0)
        else {
            throw .bad(option: "size", value: text, reason: "needs max, or pixels as w, or ,h or w,h or !w,h; nothing is enlarged")
        }
        var (width, height) = (sides[0] ?? 0, sides[1] ?? 0)
        if isSquare {
            let side = isConfined ? min(width, height) : max(width, height)
            guard isConfined || [0, side].contains(width) && [0, side].contains(height) else {
                throw .bad(option: "size", value: text, reason: "is not a square, as the region is")
            }
            (width, height) = (side, side)
            options.append("resizing_type:fill-down")
        } else if !isConfined, width > 0, height > 0 {
            options.append("resizing_type:force")
        }
        options += ["width:\(width)", "height:\(height)"]
        if !isConfined { exactly = PixelSize(width: width, height: height) }
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
