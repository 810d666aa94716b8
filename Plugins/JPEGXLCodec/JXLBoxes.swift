#if JXL
    internal import OnesheetCore

    /// The boxes of a file with a container (ISO/IEC 18181-2).
    enum JXLBoxes {
        /// The TIFF structure of the first `Exif` box. Compressed boxes are not read.
        static func exif(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
            func number(_ place: Int, _ count: Int) -> UInt64 {
                bytes[place..<(place + count)].reduce(0) { $0 << 8 | UInt64($1) }
            }
            guard bytes.count > 12, number(4, 4) == 0x4A58_4C20 else { return nil }
            var place = 12
            while bytes.count - place >= 16 {
                var (size, head) = (number(place, 4), 8)
                if size == 1 { (size, head) = (number(place + 8, 8), 16) }
                let rest = bytes.count - place
                if size == 0 { size = UInt64(rest) }
                guard size >= UInt64(head), size <= UInt64(rest) else { return nil }
                let body = (place + head)..<(place + Int(size))
                if bytes[(place + 4)..<(place + 8)].elementsEqual("Exif".utf8), body.count > 4 {
                    // The body begins with the distance to the structure.
                    let start = number(body.lowerBound, 4)
                    guard start < UInt64(body.count - 4) else { return nil }
                    let tiff = body.dropFirst(4 + Int(start))
                    return tiff.count <= ImageHeader.largestEXIF ? Array(bytes[tiff]) : nil
                }
                place += Int(size)
            }
            return nil
        }
    }
#endif
