#if HEIC
    /// A drawn HEIC file as phones write it: a grid of pictures of 64 × 64 pixels, cut on the right and at the bottom, with a preview.
    ///
    /// libheif 1.15 does not write grids of several pictures, so this writes the boxes (ISO/IEC 14496-12, ISO/IEC 23008-12).
    public struct DrawnHEICGrid: Sendable {
        public static let side = 64

        public var columns: Int
        public var rows: Int
        /// The size of the cut picture.
        public var width: Int
        public var height: Int
        /// Quarter turns against the clock.
        public var turns = 0
        /// The size in the description of the grid; `nil` is that of the cut picture.
        public var canvas: (width: Int, height: Int)?

        public init(columns: Int, rows: Int, width: Int, height: Int) {
            self.columns = columns
            self.rows = rows
            self.width = width
            self.height = height
        }

        private func tile(_ index: Int) -> DrawnHEIC {
            var tile = DrawnHEIC(width: Self.side, height: Self.side)
            tile.shade = index % 4 * 20
            return tile
        }

        /// Red, green and blue of all pixels before turning.
        public var decoded: [UInt8] {
            let tiles = (0..<4).map { tile($0).decoded }
            return (0..<(width * height)).flatMap { place -> ArraySlice<UInt8> in
                let (x, y) = (place % width, place / width)
                let start = (y % Self.side * Self.side + x % Self.side) * 3
                return tiles[(y / Self.side * columns + x / Self.side) % 4][start..<start + 3]
            }
        }

        public var file: [UInt8] {
            let tiles = (0..<min(4, columns * rows)).map { tile($0).file }
            let streams = tiles.map { Self.body(of: "mdat", in: $0) }
            let start = Self.type.count + meta(Self.body(of: "hvcC", in: tiles[0]), streams, from: 0).count + 8
            return Self.type + meta(Self.body(of: "hvcC", in: tiles[0]), streams, from: start)
                + Self.box("mdat", streams.flatMap { $0 })
        }

        private static var type: [UInt8] { box("ftyp", Array("heic\0\0\0\0mif1heic".utf8)) }

        /// The description of the items: the grid is item 1, its pictures come next, and the last one is the preview.
        private func meta(_ settings: [UInt8], _ streams: [[UInt8]], from start: Int) -> [UInt8] {
            let preview = columns * rows + 2
            let names = ["grid"] + [String](repeating: "hvc1", count: columns * rows + 1)
            let infos = names.enumerated().map {
                Self.box("infe", [2, 0, 0, 0] + Self.word($0 + 1) + [0, 0] + Array($1.utf8) + [0])
            }
            let tiles = (2..<preview).map { Self.word($0) }
            let references =
                Self.box("dimg", Self.word(1) + Self.word(tiles.count) + tiles.joined())
                + Self.box("thmb", Self.word(preview) + Self.word(1) + Self.word(1))
            let properties = [
                Self.box("hvcC", settings), Self.box("ispe", [0, 0, 0, 0] + Self.long(Self.side) + Self.long(Self.side)),
                Self.box("ispe", [0, 0, 0, 0] + Self.long(width) + Self.long(height)), Self.box("irot", [UInt8(turns)]),
            ]
            // The settings and the turn are essential.
            let associations = (1...preview).map { Self.word($0) + ($0 == 1 ? [2, 3, 0x84] : [2, 0x81, 2]) }
            var place = start
            let offsets = streams.map { stream -> Int in
                defer { place += stream.count }
                return place
            }
            // Each item's data is in the file, but that of the grid in the box of small data.
            let (wide, high) = canvas ?? (width, height)
            let data: [UInt8] = [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + Self.word(wide) + Self.word(high)
            let places = (1...preview).map { item -> [UInt8] in
                let index = (item - 2) % streams.count
                let extent = item == 1 ? (0, data.count) : (offsets[index], streams[index].count)
                return Self.word(item) + Self.word(item == 1 ? 1 : 0) + Self.word(0) + Self.word(1) + Self.long(extent.0)
                    + Self.long(extent.1)
            }
            let boxes = [
                Self.box("hdlr", [0, 0, 0, 0, 0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13)),
                Self.box("pitm", [0, 0, 0, 0] + Self.word(1)),
                Self.box("iinf", [0, 0, 0, 0] + Self.word(infos.count) + infos.joined()),
                Self.box("iref", [0, 0, 0, 0] + references),
                Self.box(
                    "iprp",
                    Self.box("ipco", Array(properties.joined()))
                        + Self.box("ipma", [0, 0, 0, 0] + Self.long(associations.count) + associations.joined())),
                Self.box("idat", data),
                Self.box("iloc", [1, 0, 0, 0, 0x44, 0] + Self.word(places.count) + places.joined()),
            ]
            return Self.box("meta", [0, 0, 0, 0] + boxes.joined())
        }

        private static func box(_ name: String, _ body: [UInt8]) -> [UInt8] { long(body.count + 8) + Array(name.utf8) + body }
        private static func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
        private static func long(_ value: Int) -> [UInt8] { word(value >> 16) + word(value & 0xFFFF) }

        /// What is in the first box of a name.
        private static func body(of name: String, in file: [UInt8]) -> [UInt8] {
            guard let place = (4..<file.count - 4).first(where: { file[$0...].starts(with: name.utf8) }) else {
                preconditionFailure("libheif writes \(name)")
            }
            let size = file[place - 4..<place].reduce(0) { $0 << 8 | Int($1) }
            return Array(file[place + 4..<place - 4 + size])
        }
    }
#endif
