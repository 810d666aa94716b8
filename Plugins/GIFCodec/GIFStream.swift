#if GIF
    internal import CGIF
    internal import OnesheetCore

    /// giflib's view of a file: records, extensions and lines, with typed errors.
    struct GIFStream: ~Copyable {
        /// The bytes that giflib reads, and the reason for which it got none.
        private struct Input {
            let bytes: UnsafeBufferPointer<UInt8>
            let deadline: Deadline
            var position = 0
            var reads = 0
            var failure: CodecError?
            /// The check of a frame's codes, if the next bytes are blocks of its data, each behind its length.
            var codes: GIFCodeCheck?
            /// Whether a length was read, and its block is next.
            var isAtBlock = false
            /// Whether a frame's data end before their last block, which is empty.
            var endsEarly = false

            /// A file may consist of codes that empty giflib's table and give no pixel, so the deadline is checked here too. A read
            /// is at most 255 bytes.
            mutating func read(_ count: Int, to memory: UnsafeMutablePointer<GifByteType>) -> Int {
                reads += 1
                if reads.isMultiple(of: 64), deadline.hasPassed { failure = .timedOut }
                guard failure == nil else { return 0 }
                if codes != nil, !isAtBlock { return readLength(to: memory) }
                let isCodes = isAtBlock
                isAtBlock = false
                guard count <= bytes.count - position, let start = bytes.baseAddress else {
                    failure = .truncated
                    return 0
                }
                if isCodes, codes?.accepts(UnsafeBufferPointer(start: start + position, count: count)) == false {
                    failure = .damaged(reason: "a code is not in the table")
                    return 0
                }
                memory.update(from: start + position, count: count)
                position += count
                return count
            }

            /// Reads the length of a block. The end of the file ends a frame's data: all its pixels may be there. Of a block that is cut off,
            /// other decoders read nothing.
            private mutating func readLength(to memory: UnsafeMutablePointer<GifByteType>) -> Int {
                memory.pointee = position < bytes.count ? bytes[position] : 0
                if Int(memory.pointee) > bytes.count - position - 1 {
                    memory.pointee = 0
                    endsEarly = true
                }
                position = min(position + 1, bytes.count)
                isAtBlock = memory.pointee > 0
                return 1
            }
        }

        private let file: UnsafeMutablePointer<GifFileType>
        private let input: UnsafeMutablePointer<Input>

        /// Reads the header and the canvas with its colour map.
        /// - Parameter bytes: must stay in place during the lifetime of this object.
        init(_ bytes: UnsafeBufferPointer<UInt8>, by deadline: Deadline) throws(CodecError) {
            let input = UnsafeMutablePointer<Input>.allocate(capacity: 1)
            input.initialize(to: Input(bytes: bytes, deadline: deadline))
            var code: Int32 = 0
            let file = DGifOpen(
                input,
                { file, memory, count in
                    guard let input = file?.pointee.UserData?.assumingMemoryBound(to: Input.self), let memory, count >= 0
                    else { return 0 }
                    return Int32(input.pointee.read(Int(count), to: memory))
                }, &code)
            guard let file else {
                let failure = input.pointee.failure
                input.deinitialize(count: 1)
                input.deallocate()
                throw failure ?? Self.error(code)
            }
            self.file = file
            self.input = input
        }

        deinit {
            DGifCloseFile(file, nil)
            input.deinitialize(count: 1)
            input.deallocate()
        }

        /// The logical screen.
        var screen: (width: Int, height: Int) { (Int(file.pointee.SWidth), Int(file.pointee.SHeight)) }

        /// The frame after `readFrame()`.
        var image: GifImageDesc { file.pointee.Image }

        /// The colours of the frame: its own, or those of the file; `nil` if neither has any.
        var colors: UnsafeBufferPointer<GifColorType>? {
            guard let map = file.pointee.Image.ColorMap ?? file.pointee.SColorMap else { return nil }
            return UnsafeBufferPointer(start: map.pointee.Colors, count: Int(map.pointee.ColorCount))
        }

        func nextRecord() throws(CodecError) -> GifRecordType {
            var record = UNDEFINED_RECORD_TYPE
            try check(DGifGetRecordType(file, &record))
            return record
        }

        /// Reads an extension.
        /// - Parameter block: gets the function code and the data of each block.
        func readExtension(_ block: (Int32, UnsafeBufferPointer<UInt8>) throws(CodecError) -> Void) throws(CodecError) {
            var function: Int32 = 0
            var bytes: UnsafeMutablePointer<GifByteType>?
            try check(DGifGetExtension(file, &function, &bytes))
            while let data = bytes {
                try block(function, UnsafeBufferPointer(start: data + 1, count: Int(data[0])))
                try check(DGifGetExtensionNext(file, &bytes))
            }
        }

        /// Reads a frame's header and prepares its lines.
        func readFrame() throws(CodecError) {
            try check(DGifGetImageHeader(file))
            // The header of the data is their last byte so far.
            let size = input.pointee.position > 0 ? Int(input.pointee.bytes[input.pointee.position - 1]) : 0
            input.pointee.codes = GIFCodeCheck(size: size, pixels: Int(image.Width) * Int(image.Height))
        }

        /// Reads the next `count` indices of the frame. With the last ones, also the end of the frame's data.
        func readLine(_ line: UnsafeMutablePointer<UInt8>, count: Int) throws(CodecError) {
            try check(DGifGetLine(file, line, Int32(count)))
        }

        private func check(_ status: Int32) throws(CodecError) {
            guard status == GIF_ERROR else { return }
            throw input.pointee.failure ?? (input.pointee.endsEarly ? .truncated : Self.error(file.pointee.Error))
        }

        private static func error(_ code: Int32) -> CodecError {
            if code == D_GIF_ERR_NOT_ENOUGH_MEM { return .outOfMemory }
            return .damaged(reason: GifErrorString(code).map { String(cString: $0) } ?? "the frame's data are not valid")
        }
    }
#endif
