#if GIF
    internal import OnesheetCore

    /// Passes the rows of a canvas to a sink and converts the frame's indices to colours.
    struct GIFRows: ~Copyable {
        private let frame: GIFFrame
        private let channels: Int
        private let layout: PixelLayout
        /// A row of the canvas. Pixels outside the frame stay transparent.
        private var pixels: [UInt8]
        private var watch: DeadlineWatch

        init(_ frame: GIFFrame, by deadline: Deadline) {
            self.frame = frame
            layout = PixelLayout(width: frame.canvas.width, height: frame.canvas.height, model: .rgb, hasAlpha: frame.hasAlpha)
            channels = layout.planes[0].channels
            pixels = [UInt8](repeating: 0, count: frame.canvas.width * channels)
            watch = DeadlineWatch(deadline)
        }

        /// An index in place of those that are not read. Real ones at the end of a row that breaks off count as missing too.
        private static let missing: UInt8 = 255

        /// The number of indices of a row that were read before it broke off.
        private static func read(_ line: some BidirectionalCollection<UInt8>) -> Int {
            line.count - line.reversed().prefix { $0 == missing }.count
        }

        /// Reads a row, passes it on, and so on.
        consuming func deliverInOrder<Sink: RowSink & ~Copyable>(
            _ reader: borrowing GIFReader, isLenient: Bool, into sink: inout Sink
        ) throws(CodecError) {
            var line = [UInt8](repeating: 0, count: frame.width)
            for y in 0..<frame.height {
                if isLenient { for x in line.indices { line[x] = Self.missing } }
                do throws(CodecError) {
                    try line.withUnsafeMutableBufferPointer { (line) throws(CodecError) in
                        if let start = line.baseAddress { try reader.readLine(start) }
                    }
                } catch {
                    guard isLenient, y > 0, error != .timedOut else { throw error }
                    try line.withUnsafeBufferPointer { (line) throws(CodecError) in
                        try deliver(UnsafeBufferPointer(rebasing: line[..<Self.read(line)]), y: frame.y + y, into: &sink)
                    }
                    return try deliverNothing((frame.y + y + 1)..<frame.canvas.height, into: &sink)
                }
                // Begins only now: a file without a single row is not a picture, even if truncation is accepted.
                if y == 0 {
                    try sink.begin(layout)
                    try deliverNothing(0..<frame.y, into: &sink)
                }
                try line.withUnsafeBufferPointer { (line) throws(CodecError) in
                    try deliver(line, y: frame.y + y, into: &sink)
                }
            }
            try deliverNothing((frame.y + frame.height)..<frame.canvas.height, into: &sink)
        }

        /// Reads all rows in the four passes of GIF89a, appendix E, and then passes them on.
        consuming func deliverInterlaced<Sink: RowSink & ~Copyable>(
            _ reader: borrowing GIFReader, isLenient: Bool, into sink: inout Sink
        ) throws(CodecError) {
            let (width, height) = (frame.width, frame.height)
            var indices = [UInt8](repeating: isLenient ? Self.missing : 0, count: width * height)
            var isRead = [Bool](repeating: false, count: height)
            var broken: Int?
            let order = [(0, 8), (4, 8), (2, 4), (1, 2)].lazy.flatMap { stride(from: $0.0, to: height, by: $0.1) }
            do throws(CodecError) {
                try indices.withUnsafeMutableBufferPointer { (indices) throws(CodecError) in
                    guard let start = indices.baseAddress else { return }
                    for y in order {
                        try watch.row(samples: width)
                        broken = y
                        try reader.readLine(start + y * width)
                        isRead[y] = true
                        broken = nil
                    }
                }
            } catch {
                guard isLenient, isRead[0], error != .timedOut else { throw error }
            }
            try sink.begin(layout)
            try deliverNothing(0..<frame.y, into: &sink)
            for y in 0..<height {
                guard isRead[y] || y == broken else {
                    try deliverNothing((frame.y + y)..<(frame.y + y + 1), into: &sink)
                    continue
                }
                try indices.withUnsafeBufferPointer { (indices) throws(CodecError) in
                    let line = indices[(y * width)..<((y + 1) * width)]
                    let known = y == broken ? line.prefix(Self.read(line)) : line
                    try deliver(UnsafeBufferPointer(rebasing: known), y: frame.y + y, into: &sink)
                }
            }
            try deliverNothing((frame.y + height)..<frame.canvas.height, into: &sink)
        }

        /// Passes on row `y` of the canvas with these indices of the frame, and nothing where it has more.
        private mutating func deliver<Sink: RowSink & ~Copyable>(
            _ line: UnsafeBufferPointer<UInt8>, y: Int, into sink: inout Sink
        ) throws(CodecError) {
            try watch.row(samples: pixels.count)
            let (start, channels, width) = (frame.x * channels, channels, frame.width)
            frame.palette.withUnsafeBufferPointer { palette in
                pixels.withUnsafeMutableBufferPointer { pixels in
                    for x in 0..<line.count {
                        let (place, color) = (start + x * channels, Int(line[x]) * 4)
                        pixels[place] = palette[color]
                        pixels[place + 1] = palette[color + 1]
                        pixels[place + 2] = palette[color + 2]
                        if channels == 4 { pixels[place + 3] = palette[color + 3] }
                    }
                    for place in (start + line.count * channels)..<(start + width * channels) { pixels[place] = 0 }
                }
            }
            try sink.row(pixels.span, plane: 0, y: y)
        }

        /// Passes on empty rows, outside the frame or for unreadable ones.
        private mutating func deliverNothing<Sink: RowSink & ~Copyable>(
            _ rows: Range<Int>, into sink: inout Sink
        ) throws(CodecError) {
            guard !rows.isEmpty else { return }
            let empty = [UInt8](repeating: 0, count: pixels.count)
            for y in rows {
                try watch.row(samples: empty.count)
                try sink.row(empty.span, plane: 0, y: y)
            }
        }
    }
#endif
