#if HEIC
    internal import OnesheetCore

    /// The facts about an HEVC stream (ITU-T H.265) that decoding needs: its size, and that it has one picture.
    struct HEVCStream {
        let bytes: UnsafeBufferPointer<UInt8>

        private static let parameterSets = 32...34
        private static let sequenceParameterSet = 33

        /// The pixels of the largest picture in the decoder's settings (ISO/IEC 14496-15 §8.3.3.1).
        func pixels(_ settings: Range<Int>) throws(CodecError) -> Int {
            guard settings.count > 22 else { throw .truncated }
            // libde265 is given lengths of four bytes.
            guard bytes[settings.lowerBound + 21] & 3 == 3 else { throw .unsupported("HEVC with short lengths in HEIC") }
            let count = Int(bytes[settings.lowerBound + 22])
            var place = settings.lowerBound + 23
            var pixels = 0
            for _ in 0..<count {
                guard settings.upperBound - place >= 3 else { throw .truncated }
                let units = number(place + 1, 2)
                place += 3
                for _ in 0..<units {
                    guard settings.upperBound - place >= 2 else { throw .truncated }
                    let length = number(place, 2)
                    place += 2
                    guard length >= 2, length <= settings.upperBound - place else { throw .truncated }
                    if kind(place) == Self.sequenceParameterSet {
                        pixels = max(pixels, try size(ofSequence: (place + 2)..<(place + length)))
                    }
                    place += length
                }
            }
            guard pixels > 0 else { throw .damaged(reason: "the HEVC stream has no size") }
            return pixels
        }

        /// Checks an item: it has one picture, and no parameters, which could change its size.
        func checkPicture(_ item: Range<Int>) throws(CodecError) {
            var place = item.lowerBound
            var pictures = 0
            while place < item.upperBound {
                guard item.upperBound - place >= 4 else { throw .truncated }
                let length = number(place, 4)
                place += 4
                guard length <= item.upperBound - place else { throw .truncated }
                guard length >= 3 else { throw .damaged(reason: "a part of the HEVC stream is too short") }
                let kind = kind(place)
                guard !Self.parameterSets.contains(kind) else { throw .unsupported("HEVC parameters within an image in HEIC") }
                // The first bit after the head of a slice marks the first slice of a picture.
                if kind < 32, bytes[place + 2] & 0x80 != 0 { pictures += 1 }
                place += length
            }
            guard pictures == 1 else { throw .damaged(reason: "the HEVC stream has \(pictures) pictures") }
        }

        private func kind(_ place: Int) -> Int { Int(bytes[place]) >> 1 & 63 }

        private func number(_ place: Int, _ count: Int) -> Int {
            bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
        }

        /// The pixels of pictures with these parameters (ITU-T H.265 §7.3.2.2).
        private func size(ofSequence part: Range<Int>) throws(CodecError) -> Int {
            var bits = HEVCBits(bytes, part)
            _ = try bits.next(4)
            let layers = try bits.next(3)
            _ = try bits.next(1)
            try bits.skipLevels(layers)
            _ = try bits.nextCode()
            if try bits.nextCode() == 3 { _ = try bits.next(1) }
            let (width, height) = (try bits.nextCode(), try bits.nextCode())
            guard (1...65_535).contains(width), (1...65_535).contains(height) else {
                throw .damaged(reason: "\(width) × \(height) are not the sides of an image")
            }
            return width * height
        }
    }

    /// Reads bits, without the bytes that prevent false start codes (ITU-T H.265 §7.4.2).
    private struct HEVCBits {
        private let payload: [UInt8]
        private var place = 0

        /// As many bytes as the size can be away from the beginning.
        private static let longest = 256

        init(_ bytes: UnsafeBufferPointer<UInt8>, _ part: Range<Int>) {
            var payload: [UInt8] = []
            var zeros = 0
            for byte in bytes[part.prefix(Self.longest)] {
                if zeros >= 2, byte == 3 {
                    zeros = 0
                    continue
                }
                zeros = byte == 0 ? zeros + 1 : 0
                payload.append(byte)
            }
            self.payload = payload
        }

        mutating func next(_ count: Int) throws(CodecError) -> Int {
            guard place + count <= payload.count * 8 else { throw .truncated }
            var value = 0
            for _ in 0..<count {
                value = value << 1 | Int(payload[place / 8] >> (7 - UInt8(place % 8)) & 1)
                place += 1
            }
            return value
        }

        /// A number in Exp-Golomb code (ITU-T H.265 §9.2).
        mutating func nextCode() throws(CodecError) -> Int {
            var zeros = 0
            while try next(1) == 0 {
                zeros += 1
                guard zeros <= 31 else { throw .damaged(reason: "a number of the HEVC stream is too large") }
            }
            return (1 << zeros) - 1 + (try next(zeros))
        }

        /// Skips profile, tier and level (ITU-T H.265 §7.3.3).
        mutating func skipLevels(_ layers: Int) throws(CodecError) {
            _ = try next(48)
            _ = try next(48)
            guard layers > 0 else { return }
            var sizes: [Int] = []
            for _ in 0..<layers {
                sizes.append(try next(1) * 88)
                sizes.append(try next(1) * 8)
            }
            _ = try next((8 - layers) * 2)
            for size in sizes where size > 0 {
                _ = try next(size / 2)
                _ = try next(size / 2)
            }
        }
    }
#endif
