#if JXL
    internal import CJXL
    internal import OnesheetCore

    /// Gives libjxl a file piece by piece, and looks at the deadline between the pieces.
    ///
    /// A parallel runner that stops at the deadline would be finer, but libjxl ends the process if its runner fails.
    struct JXLInput {
        private let bytes: UnsafeBufferPointer<UInt8>
        let deadline: Deadline
        /// How much of the file libjxl has been given.
        private var end = 0

        /// The bytes of a piece: about a hundred thousand pixels of a usual file.
        private static let piece = 16 << 10

        /// - Parameter bytes: must stay in place as long as the decoder has them.
        init(_ bytes: UnsafeBufferPointer<UInt8>, by deadline: Deadline) {
            self.bytes = bytes
            self.deadline = deadline
        }

        /// Works on to the next event.
        /// - Throws: `CodecError.truncated` if the file ends before it, `CodecError.timedOut` at the deadline, `CodecError.damaged` if
        ///   it is another event.
        mutating func advance(_ decoder: OpaquePointer, to event: JxlDecoderStatus) throws(CodecError) {
            while true {
                try deadline.check()
                let status = JxlDecoderProcessInput(decoder)
                guard status == JXL_DEC_NEED_MORE_INPUT else {
                    guard status == event else { throw .damaged(reason: "the codestream is not valid") }
                    return
                }
                guard end < bytes.count else { throw .truncated }
                let start = end - JxlDecoderReleaseInput(decoder)
                end = min(end + Self.piece, bytes.count)
                guard let first = bytes.baseAddress, JxlDecoderSetInput(decoder, first + start, end - start) == JXL_DEC_SUCCESS
                else {
                    throw .unsupported("this version of libjxl")
                }
            }
        }
    }
#endif
