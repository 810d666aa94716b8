/// A drawn GIF file (GIF89a) with one frame, encoded here, and the pixels that it must show.
public struct DrawnGIF: Sendable {
    /// The size of the frame.
    public var width: Int
    public var height: Int
    public var isInterlaced: Bool
    /// The index of transparent pixels.
    public var transparent: Int?
    /// The upper left corner of the frame on the canvas.
    public var place: (x: Int, y: Int)
    /// The size of the logical screen; `nil` is the frame's.
    public var canvas: (width: Int, height: Int)?
    /// The bits of an index, 1 to 8.
    public var depth: Int
    /// Whether the file has a colour map of its own, and the frame.
    public var hasGlobalMap = true
    public var hasLocalMap = false
    /// Bytes before the frame, such as extensions.
    public var before: [UInt8] = []
    /// The codes of the frame without their blocks; `nil` for the drawn pixels.
    public var codes: [UInt8]?
    /// The most bytes of a block, up to 255.
    public var blockSize = 255
    /// Bytes between the frame and the trailer.
    public var after: [UInt8] = []

    public init(
        width: Int, height: Int, isInterlaced: Bool = false, transparent: Int? = nil, place: (x: Int, y: Int) = (0, 0),
        canvas: (width: Int, height: Int)? = nil, depth: Int = 4
    ) {
        self.width = width
        self.height = height
        self.isInterlaced = isInterlaced
        self.transparent = transparent
        self.place = place
        self.canvas = canvas
        self.depth = depth
    }

    /// The index of a pixel of the frame.
    public func index(_ x: Int, _ y: Int) -> Int { (x * 3 + y * 5 + x * y / 7) % (1 << depth) }

    /// Red, green and blue of an index.
    public static func color(_ index: Int) -> [UInt8] {
        [UInt8(index * 15 & 255), UInt8((255 - index * 10) & 255), UInt8(index * 53 & 255)]
    }

    /// Red, green, blue and alpha of all pixels of a canvas that holds the whole frame.
    public var rgba: [UInt8] {
        let (across, down) = canvas ?? (width, height)
        return (0..<(across * down)).flatMap { position -> [UInt8] in
            let (x, y) = (position % across - place.x, position / across - place.y)
            guard (0..<width).contains(x), (0..<height).contains(y), index(x, y) != transparent else { return [0, 0, 0, 0] }
            return Self.color(index(x, y)) + [255]
        }
    }

    /// The file.
    public var file: [UInt8] {
        let (across, down) = canvas ?? (width, height)
        let map = (0..<(1 << depth)).flatMap(Self.color)
        let size = UInt8(depth - 1)
        var bytes = Array("GIF89a".utf8) + Self.little(across) + Self.little(down) + [(hasGlobalMap ? 0x80 : 0) | size, 0, 0]
        if hasGlobalMap { bytes += map }
        bytes += before
        if let transparent { bytes += [0x21, 0xF9, 4, 1, 0, 0, UInt8(transparent), 0] }
        bytes += [0x2C] + [place.x, place.y, width, height].flatMap(Self.little)
        bytes += [(hasLocalMap ? 0x80 : 0) | (isInterlaced ? 0x40 : 0) | size]
        if hasLocalMap { bytes += map }
        let rows =
            isInterlaced
            ? [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) } : Array(0..<height)
        let indices = rows.flatMap { y in (0..<width).map { index($0, y) } }
        bytes += [UInt8(max(depth, 2))] + Self.blocks(codes ?? Self.compressed(indices, depth: max(depth, 2)), of: blockSize)
        return bytes + after + [0x3B]
    }

    /// Data as blocks of up to `size` bytes, and the empty block that ends them.
    public static func blocks(_ data: [UInt8], of size: Int = 255) -> [UInt8] {
        stride(from: 0, to: data.count, by: size).flatMap { start in
            let block = data[start..<min(start + size, data.count)]
            return [UInt8(block.count)] + block
        } + [0]
    }

    /// GIF's variant of LZW (GIF89a, appendix F).
    private static func compressed(_ indices: [Int], depth: Int) -> [UInt8] {
        let clear = 1 << depth
        var (bytes, bits, count) = ([UInt8](), 0, 0)
        var (table, next, size) = ([Int: Int](), clear + 2, depth + 1)
        func flush() {
            while count >= 8 {
                bytes.append(UInt8(bits & 255))
                (bits, count) = (bits >> 8, count - 8)
            }
        }
        func write(_ code: Int) {
            bits |= code << count
            count += size
            flush()
        }
        write(clear)
        var prefix: Int?
        for index in indices {
            guard let known = prefix else {
                prefix = index
                continue
            }
            if let longer = table[known << 8 | index] {
                prefix = longer
                continue
            }
            write(known)
            if next < 4096 {
                table[known << 8 | index] = next
                if next == 1 << size, size < 12 { size += 1 }
                next += 1
            } else {
                write(clear)
                (table, next, size) = ([:], clear + 2, depth + 1)
            }
            prefix = index
        }
        if let prefix { write(prefix) }
        if next == 1 << size, size < 12 { size += 1 }
        write(clear + 1)
        count += 7
        flush()
        return bytes
    }

    private static func little(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
}
