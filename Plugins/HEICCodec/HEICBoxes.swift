#if HEIC
    internal import OnesheetCore

    /// The boxes of an ISO base media file (ISO/IEC 14496-12 §4.2).
    struct HEICBoxes {
        let bytes: UnsafeBufferPointer<UInt8>

        /// The boxes in a part of the file, in order.
        /// - Throws: `CodecError.truncated` if one does not end in it.
        func boxes(in part: Range<Int>) throws(CodecError) -> [(name: String, body: Range<Int>)] {
            var found: [(name: String, body: Range<Int>)] = []
            var start = part.lowerBound
            while start < part.upperBound {
                let rest = start..<part.upperBound
                var (size, head) = (try number(rest, at: 0, bytes: 4), 8)
                if size == 1 { (size, head) = (try number(rest, at: 8, bytes: 8), 16) }
                if size == 0 { size = rest.count }
                guard size >= head, size <= rest.count else { throw .truncated }
                found.append((String(decoding: bytes[start + 4..<start + 8], as: UTF8.self), start + head..<start + size))
                guard found.count <= HEICItems.mostEntries else { throw .unsupported("HEIC of very many boxes") }
                start += size
            }
            return found
        }

        /// The only box of a name; `nil` if there is none.
        /// - Throws: `CodecError.damaged` if there are several, of which another reader could choose another one.
        static func only(
            _ name: String, in boxes: [(name: String, body: Range<Int>)]
        ) throws(CodecError) -> Range<Int>? {
            let found = boxes.filter { $0.name == name }
            guard found.count <= 1 else { throw .damaged(reason: "there are \(found.count) boxes “\(name)”") }
            return found.first?.body
        }

        /// A big-endian number of up to eight bytes.
        func number(_ part: Range<Int>, at place: Int, bytes count: Int) throws(CodecError) -> Int {
            guard place >= 0, part.count >= place + count else { throw .truncated }
            let start = part.lowerBound + place
            let value = bytes[start..<start + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Int(clamping: value)
        }

        func name(_ part: Range<Int>, at place: Int) throws(CodecError) -> String {
            guard part.count >= place + 4 else { throw .truncated }
            return String(decoding: bytes[part.lowerBound + place..<part.lowerBound + place + 4], as: UTF8.self)
        }
    }
#endif
