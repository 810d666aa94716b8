#if HEIC
    internal import OnesheetCore

    /// The items of a file with their properties, references and places (ISO/IEC 14496-12 §8.11, ISO/IEC 23008-12 §9.3).
    struct HEICItems {
        /// The most boxes, items, pieces of data, properties, associations and references, each. libheif searches all of them for each.
        static let mostEntries = 2048

        private(set) var primary = 0
        private(set) var types: [Int: String] = [:]
        /// Where each property is in the file, in order.
        private var properties: [(name: String, body: Range<Int>)] = []
        private var associations: [Int: [Int]] = [:]
        /// References by their kind.
        private(set) var references: [(kind: String, from: Int, to: [Int])] = []
        /// Where each item is in the file, in pieces.
        private(set) var places: [Int: [Range<Int>]] = [:]

        private let file: HEICBoxes

        init(_ file: HEICBoxes) throws(CodecError) {
            self.file = file
            guard let meta = try HEICBoxes.only("meta", in: try file.boxes(in: 0..<file.bytes.count)), meta.count > 4 else {
                throw .damaged(reason: "there is no image")
            }
            let boxes = try file.boxes(in: meta.dropFirst(4))
            guard let item = try HEICBoxes.only("pitm", in: boxes), let info = try HEICBoxes.only("iinf", in: boxes),
                let places = try HEICBoxes.only("iloc", in: boxes), let properties = try HEICBoxes.only("iprp", in: boxes)
            else { throw .damaged(reason: "the image is not described") }
            primary = try file.number(item, at: 4, bytes: try file.number(item, at: 0, bytes: 1) == 0 ? 2 : 4)
            try readTypes(info)
            try readPlaces(places, data: try HEICBoxes.only("idat", in: boxes) ?? 0..<0)
            try readProperties(properties)
            if let references = try HEICBoxes.only("iref", in: boxes) { try readReferences(references) }
        }

        /// The properties of an item with this name.
        func properties(of item: Int, named name: String) -> [Range<Int>] {
            (associations[item] ?? []).compactMap { index in
                guard properties.indices.contains(index - 1), properties[index - 1].name == name else { return nil }
                return properties[index - 1].body
            }
        }

        private mutating func readTypes(_ body: Range<Int>) throws(CodecError) {
            let head = try file.number(body, at: 0, bytes: 1) == 0 ? 6 : 8
            guard body.count >= head else { throw .truncated }
            for box in try file.boxes(in: body.dropFirst(head)) where box.name == "infe" {
                let version = try file.number(box.body, at: 0, bytes: 1)
                guard version >= 2 else { throw .unsupported("HEIC with entries of an old kind") }
                let width = version == 2 ? 2 : 4
                let id = try file.number(box.body, at: 4, bytes: width)
                guard types[id] == nil else { throw .damaged(reason: "an item is described twice") }
                types[id] = try file.name(box.body, at: 4 + width + 2)
            }
        }

        private mutating func readPlaces(_ body: Range<Int>, data: Range<Int>) throws(CodecError) {
            let version = try file.number(body, at: 0, bytes: 1)
            let sizes = try file.number(body, at: 4, bytes: 2)
            let (offset, length, base) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
            let index = version == 0 ? 0 : sizes & 15
            guard [offset, length, base, index].allSatisfy({ $0 <= 8 }) else { throw .damaged(reason: "places of \(sizes) bytes") }
            let file = self.file
            var place = 6
            func next(_ count: Int) throws(CodecError) -> Int {
                defer { place += count }
                return try file.number(body, at: place, bytes: count)
            }
            var total = 0
            for _ in 0..<(try checked(try next(version < 2 ? 2 : 4))) {
                let id = try next(version < 2 ? 2 : 4)
                let method = try version == 0 ? 0 : next(2) & 15
                _ = try next(2)
                let start = try next(base)
                var pieces: [Range<Int>] = []
                let count = try next(2)
                // A piece may take no bytes of the file.
                total = try checked(total + count)
                for _ in 0..<count {
                    _ = try next(index)
                    let (first, overflow) = start.addingReportingOverflow(try next(offset))
                    let bytes = try next(length)
                    // In the file, in the box of small data, or in another item, which stays unknown.
                    let whole = method == 0 ? 0..<file.bytes.count : data
                    guard method < 2 else { continue }
                    guard !overflow, first <= whole.count, bytes <= whole.count - first else { throw .truncated }
                    let begin = whole.lowerBound + first
                    pieces.append(begin..<(bytes == 0 ? whole.upperBound : begin + bytes))
                }
                guard places.updateValue(pieces, forKey: id) == nil else { throw .damaged(reason: "an item has two places") }
            }
        }

        private mutating func readProperties(_ body: Range<Int>) throws(CodecError) {
            let boxes = try file.boxes(in: body)
            guard let list = try HEICBoxes.only("ipco", in: boxes) else { throw .damaged(reason: "there are no properties") }
            properties = try file.boxes(in: list)
            var count = 0
            for box in boxes where box.name == "ipma" {
                let version = try file.number(box.body, at: 0, bytes: 1)
                let isWide = try file.number(box.body, at: 3, bytes: 1) & 1 == 1
                var place = 8
                for _ in 0..<(try checked(try file.number(box.body, at: 4, bytes: 4))) {
                    let id = try file.number(box.body, at: place, bytes: version < 1 ? 2 : 4)
                    place += version < 1 ? 2 : 4
                    let entries = try file.number(box.body, at: place, bytes: 1)
                    place += 1
                    count += entries
                    guard count <= Self.mostEntries * 8 else { throw .unsupported("HEIC of very many properties") }
                    for _ in 0..<entries {
                        let entry = try file.number(box.body, at: place, bytes: isWide ? 2 : 1)
                        associations[id, default: []].append(entry & (isWide ? 0x7FFF : 0x7F))
                        place += isWide ? 2 : 1
                    }
                }
            }
        }

        private mutating func readReferences(_ body: Range<Int>) throws(CodecError) {
            let width = try file.number(body, at: 0, bytes: 1) == 0 ? 2 : 4
            guard body.count >= 4 else { throw .truncated }
            for box in try file.boxes(in: body.dropFirst(4)) {
                let from = try file.number(box.body, at: 0, bytes: width)
                var to: [Int] = []
                for index in 0..<(try checked(try file.number(box.body, at: width, bytes: 2))) {
                    to.append(try file.number(box.body, at: width + 2 + index * width, bytes: width))
                }
                references.append((box.name, from, to))
            }
        }

        private func checked(_ count: Int) throws(CodecError) -> Int {
            guard count <= Self.mostEntries else { throw .unsupported("HEIC of more than \(Self.mostEntries) items") }
            return count
        }
    }
#endif
