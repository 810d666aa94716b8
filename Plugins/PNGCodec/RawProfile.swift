internal import CPNG
internal import OnesheetCore

/// A profile in hexadecimal in a text chunk, which ImageMagick writes for what PNG had no chunk for: a line with its kind, one with its
/// size, and its bytes.
struct RawProfile {
    private let bytes: [UInt8]

    /// More than what a segment of JPEG holds in hexadecimal, with its lines.
    private static let largestText = 160 << 10

    static func isEXIF(_ chunk: PNGChunk) -> Bool {
        guard chunk.isNamed("zTXt") || chunk.isNamed("tEXt") else { return false }
        return [Self.keyword("exif"), Self.keyword("APP1")].contains { chunk.contents.starts(with: $0) }
    }

    private static func keyword(_ kind: String) -> [UInt8] { Array("Raw profile type \(kind)\0".utf8) }

    /// `nil` if the chunk is damaged or too large.
    init?(_ chunk: PNGChunk) {
        let value = chunk.contents.dropFirst(Self.keyword("exif").count)
        guard chunk.isIntact, let text = chunk.isNamed("zTXt") ? Self.inflated(Array(value.dropFirst())) : Array(value),
            text.count <= Self.largestText
        else { return nil }
        let lines = text.drop { $0 == UInt8(ascii: "\n") }.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
        guard lines.count == 3 else { return nil }
        let digits = lines[2].compactMap { Character(UnicodeScalar($0)).hexDigitValue.map { UInt8($0) } }
        bytes = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// What follows the signature of EXIF in JPEG. `nil` if it is another profile.
    var exif: [UInt8]? {
        let signature = Array("Exif\0\0".utf8)
        return bytes.starts(with: signature) ? Array(bytes.dropFirst(signature.count)) : nil
    }

    private static func inflated(_ stream: [UInt8]) -> [UInt8]? {
        var count = largestText
        var status = CPNG_OK
        let text = [UInt8](unsafeUninitializedCapacity: count) { room, used in
            status = cpng_inflate(stream, stream.count, room.baseAddress, &count)
            used = count
        }
        return status == CPNG_OK ? text : nil
    }
}
