#if HEIC
    internal import OnesheetCore

    /// The coded pictures that make up the primary one. libheif and libde265 have no limit on the work for them, so what they would
    /// decode is counted first: the tiles of a grid, and the size in the HEVC stream, which may differ from that in the file.
    struct HEICPictures {
        /// By how much the sides of the coded picture may exceed those of the visible one: tiles are cut off at its edges.
        static let margin = 1024

        /// The most bytes that tiles may share. The check reads all bytes of each tile and of its settings, so many tiles with the same bytes
        /// would take quadratic time.
        static let mostShared = 16 << 20

        /// Pixels of all coded pictures, for colours and for alpha.
        private let colors: Int
        private let alpha: Int

        /// - Throws: `CodecError` if the file is damaged, or has a structure that this codec does not read.
        init(_ bytes: UnsafeBufferPointer<UInt8>) throws(CodecError) {
            let file = HEICBoxes(bytes: bytes)
            let items = try HEICItems(file)
            colors = try Self.pixels(of: items.primary, items, file)
            var alpha = 0
            for reference in items.references where reference.kind == "auxl" {
                guard Self.isAlpha(reference.from, of: items, in: file) else { continue }
                guard reference.to == [items.primary], alpha == 0 else { throw .unsupported("HEIC with several alpha channels") }
                alpha = try Self.pixels(of: reference.from, items, file)
            }
            self.alpha = alpha
        }

        /// - Throws: `CodecError.unsupported` if the coded pictures are much larger than the visible one, from whose size memory is
        ///   predicted.
        func check(width: Int, height: Int) throws(CodecError) {
            let limit = (width + Self.margin) * (height + Self.margin)
            guard max(colors, alpha) <= limit else {
                throw .unsupported("HEIC of \(max(colors, alpha)) coded pixels for \(width) × \(height) visible ones")
            }
        }

        /// The coded pixels of an item: of its HEVC stream, or of all tiles of a grid or its canvas, whichever has more.
        private static func pixels(of item: Int, _ items: HEICItems, _ file: HEICBoxes) throws(CodecError) -> Int {
            let type = items.types[item] ?? "unknown"
            guard type == "grid" else { return try pixels(ofStream: item, type: type, of: items, in: file) }
            var (pixels, read) = (0, 0)
            var known: [Int: Int] = [:]
            let canvas = try self.pixels(ofCanvas: item, of: items, in: file)
            for reference in items.references where reference.kind == "dimg" && reference.from == item {
                for tile in reference.to {
                    if known[tile] == nil {
                        read += (items.places[tile] ?? []).reduce(0) { $0 + $1.count }
                        read += items.properties(of: tile, named: "hvcC").reduce(0) { $0 + $1.count }
                        guard read <= file.bytes.count + Self.mostShared else {
                            throw .unsupported("HEIC of very many tiles with the same bytes")
                        }
                        known[tile] = try self.pixels(
                            ofStream: tile, type: items.types[tile] ?? "unknown", of: items, in: file)
                    }
                    pixels += known[tile] ?? 0
                }
            }
            return max(pixels, canvas)
        }

        /// The pixels that a grid describes (ISO/IEC 23008-12 §6.6.2.3.2). libheif makes a picture of them, whatever the rest of the file says.
        private static func pixels(ofCanvas grid: Int, of items: HEICItems, in file: HEICBoxes) throws(CodecError) -> Int {
            guard let places = items.places[grid], places.count == 1, let place = places.first else {
                throw .unsupported("grids in several pieces in HEIC")
            }
            let bytes = try file.number(place, at: 1, bytes: 1) & 1 == 1 ? 4 : 2
            let (width, height) = (
                try file.number(place, at: 4, bytes: bytes), try file.number(place, at: 4 + bytes, bytes: bytes)
            )
            let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
            return overflow ? .max : pixels
        }

        private static func pixels(
            ofStream item: Int, type: String, of items: HEICItems, in file: HEICBoxes
        ) throws(CodecError) -> Int {
            guard type == "hvc1" else { throw .unsupported("items of the kind “\(type)” in HEIC") }
            let settings = items.properties(of: item, named: "hvcC")
            guard settings.count == 1, let settings = settings.first, let place = items.places[item] else {
                throw .damaged(reason: "an image has no HEVC stream")
            }
            guard place.count == 1, let place = place.first else { throw .unsupported("images in several pieces in HEIC") }
            let stream = HEVCStream(bytes: file.bytes)
            try stream.checkPicture(place)
            return try stream.pixels(settings)
        }

        /// Whether an auxiliary picture is the alpha channel.
        private static func isAlpha(_ item: Int, of items: HEICItems, in file: HEICBoxes) -> Bool {
            items.properties(of: item, named: "auxC").contains { body in
                let text = String(decoding: file.bytes[body.dropFirst(4)].prefix { $0 != 0 }, as: UTF8.self)
                return text.ends(withBytesOf: ":alpha") || text.ends(withBytesOf: "auxid:1")
            }
        }
    }
#endif
