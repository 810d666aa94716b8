#if GIF
    /// Follows the codes of a frame's data (GIF89a, appendix F), and finds one that is not in the table yet. giflib makes some pixel of it; libvips
    /// and Pillow refuse the file, and browsers show nothing from there on.
    struct GIFCodeCheck {
        private let clear: Int
        private var width: Int
        private var next: Int
        private var bits = 0
        private var bitCount = 0
        private var previous: Int?
        /// Pixels of each code in the table.
        private var lengths: [Int]
        /// Pixels that the frame still needs. Codes behind them have no meaning.
        private var missing: Int

        private static let mostCodes = 4096

        /// - Parameters:
        ///   - size: the bits of an index, as the data begin. giflib refuses more than 8.
        ///   - pixels: those of the frame.
        init(size: Int, pixels: Int) {
            clear = 1 << min(size, 8)
            width = min(size, 8) + 1
            next = clear + 2
            lengths = [Int](repeating: 1, count: Self.mostCodes)
            missing = pixels
        }

        /// Whether all codes that end in these bytes are in the table.
        mutating func accepts(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
            for byte in bytes where missing > 0 {
                bits |= Int(byte) << bitCount
                bitCount += 8
                while bitCount >= width, missing > 0 {
                    let code = bits & ((1 << width) - 1)
                    bits >>= width
                    bitCount -= width
                    guard accepts(code) else { return false }
                }
            }
            return true
        }

        private mutating func accepts(_ code: Int) -> Bool {
            switch code {
            case clear:
                (next, previous) = (clear + 2, nil)
                width = clear.trailingZeroBitCount + 1
                return true
            // The end of the codes; whether pixels are missing is another question.
            case clear + 1:
                missing = 0
                return true
            default: break
            }
            guard let previous else {
                guard code < clear else { return false }
                (self.previous, missing) = (code, missing - 1)
                return true
            }
            guard code < next || code == next && next < Self.mostCodes else { return false }
            if next < Self.mostCodes {
                lengths[next] = lengths[previous] + 1
                next += 1
                if next == 1 << width, next < Self.mostCodes { width += 1 }
            }
            (self.previous, missing) = (code, missing - lengths[code])
            return true
        }
    }
#endif
