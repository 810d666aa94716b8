#if AVIF
    internal import OnesheetCore

    /// Checks the boxes of an AVIF file (ISO/IEC 14496-12 §4.2) that cost libavif quadratic time or much memory: it searches all items for
    /// each item, and a table for each chunk of a sequence, and keeps an entry for each piece of data.
    struct AVIFBoxes {
        /// The most items, pieces of data, properties, associations and references, each. A grid has at most 256 pictures, and as many of alpha.
        static let mostEntries = 1024
        /// The most bytes for the description of a sequence, of which only the first picture is used.
        static let largestMovie = 256 << 10

        private let bytes: UnsafeBufferPointer<UInt8>

        /// - Throws: `CodecError.unsupported` if the file exceeds the limits. libavif reports damage.
        static func check(_ bytes: UnsafeBufferPointer<UInt8>) throws(CodecError) {
            let file = AVIFBoxes(bytes: bytes)
            for box in file.boxes(in: 0..<bytes.count) {
                switch box.name {
                case "meta": try file.checkMeta(box.body.dropFirst(4))
                case "moov":
                    guard box.body.count <= largestMovie else { throw .unsupported("AVIF of very many images") }
                    // Items of a track, which no writer of AVIF makes, would be read as those of the file are.
                    for track in file.boxes(in: box.body) where track.name == "trak" {
                        guard !file.boxes(in: track.body).contains(where: { $0.name == "meta" }) else {
                            throw .unsupported("AVIF of items in a track")
                        }
                    }
                default: break
                }
            }
        }

        private func checkMeta(_ body: Range<Int>) throws(CodecError) {
            var (items, places, properties, associations, references) = (0, 0, 0, 0, 0)
            for box in boxes(in: body) {
                let version = number(box.body, at: 0, bytes: 1)
                switch box.name {
                case "iinf": items += number(box.body, at: 4, bytes: version == 0 ? 2 : 4)
                case "iloc": places += entries(ofPlaces: box.body, version: version)
                case "iref":
                    // Each has as many ids as it says, and libavif makes an item of each id that is unknown (§8.11.12).
                    let width = version == 0 ? 2 : 4
                    for reference in boxes(in: box.body.dropFirst(4)) {
                        references += 1 + number(reference.body, at: width, bytes: 2)
                    }
                case "iprp":
                    for box in boxes(in: box.body) {
                        if box.name == "ipco" { properties += count(box.body) }
                        if box.name == "ipma" { associations += number(box.body, at: 4, bytes: 4) }
                    }
                default: break
                }
            }
            guard [items, places, properties, associations, references].allSatisfy({ $0 <= Self.mostEntries }) else {
                throw .unsupported("AVIF of more than \(Self.mostEntries) items")
            }
        }

        /// The items of an `iloc` box, or the pieces of all of them, whichever are more (§8.11.3). A piece may take no bytes of the file.
        private func entries(ofPlaces body: Range<Int>, version: Int) -> Int {
            let width = version < 2 ? 2 : 4
            let items = number(body, at: 6, bytes: width)
            guard items <= Self.mostEntries else { return items }
            let sizes = number(body, at: 4, bytes: 2)
            let (offset, length, base, index) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15, version == 0 ? 0 : sizes & 15)
            var (start, pieces) = (6 + width, 0)
            for _ in 0..<items {
                start += width + (version == 0 ? 0 : 2) + 2 + base
                let count = number(body, at: start, bytes: 2)
                start += 2 + count * (index + offset + length)
                pieces += count
            }
            return max(items, pieces)
        }

        /// The intact boxes in a part of the file, in order.
        private func boxes(in part: Range<Int>) -> some Sequence<(name: String, body: Range<Int>)> {
            sequence(state: part.lowerBound) { start in
                let rest = start..<part.upperBound
                guard rest.count >= 8 else { return nil }
                var (size, head) = (number(rest, at: 0, bytes: 4), 8)
                if size == 1 { (size, head) = (number(rest, at: 8, bytes: 8), 16) }
                if size == 0 { size = rest.count }
                guard size >= head, size <= rest.count else { return nil }
                defer { start += size }
                return (String(decoding: bytes[start + 4..<start + 8], as: UTF8.self), start + head..<start + size)
            }
        }

        private func count(_ part: Range<Int>) -> Int { boxes(in: part).reduce(0) { count, _ in count + 1 } }

        /// A big-endian number; 0 if bytes are missing, and the largest number if it does not fit.
        private func number(_ part: Range<Int>, at place: Int, bytes count: Int) -> Int {
            guard part.count >= place + count else { return 0 }
            let value = bytes[part.lowerBound + place..<part.lowerBound + place + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Int(min(value, UInt64(Int32.max)))
        }
    }
#endif
