#if WebP
    internal import CWebP
    internal import OnesheetCore

    /// The container of a WebP file (RFC 9649 §2): its canvas, first frame and metadata, parsed by libwebpdemux.
    struct WebPFile: ~Copyable {
        private let demuxer: OpaquePointer
        /// The size of the canvas.
        let width: Int
        let height: Int
        /// The position of the first frame on the canvas.
        let frame: (x: Int, y: Int, width: Int, height: Int)
        let hasAlpha: Bool
        /// The first frame as a file of its own, within the given bytes.
        let stream: UnsafeBufferPointer<UInt8>

        /// - Parameter bytes: must stay in place during the lifetime of this object.
        init(_ bytes: UnsafeBufferPointer<UInt8>, acceptsTruncated: Bool) throws(CodecError) {
            guard bytes.starts(with: "RIFF".utf8.prefix(bytes.count)),
                bytes.dropFirst(8).starts(with: "WEBP".utf8.prefix(max(0, bytes.count - 8)))
            else { throw .damaged(reason: "not a WebP file") }
            var data = WebPData(bytes: bytes.baseAddress, size: bytes.count)
            var state = WEBP_DEMUX_PARSING_HEADER
            let demuxer = WebPDemuxPartial(&data, &state)
            var iterator = WebPIterator()
            guard let demuxer, state != WEBP_DEMUX_PARSE_ERROR, WebPDemuxGetFrame(demuxer, 1, &iterator) != 0 else {
                WebPDemuxDelete(demuxer)
                throw state == WEBP_DEMUX_PARSE_ERROR ? .damaged(reason: "the chunks are not a valid WebP file") : .truncated
            }
            defer { WebPDemuxReleaseIterator(&iterator) }
            // Bytes after a complete first frame may be missing.
            guard state == WEBP_DEMUX_DONE || iterator.complete != 0 || acceptsTruncated else {
                WebPDemuxDelete(demuxer)
                throw .truncated
            }
            self.demuxer = demuxer
            width = Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH))
            height = Int(WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT))
            frame = (Int(iterator.x_offset), Int(iterator.y_offset), Int(iterator.width), Int(iterator.height))
            // The parts outside the frame are transparent.
            hasAlpha = iterator.has_alpha != 0 || frame.width < width || frame.height < height
            stream = UnsafeBufferPointer(start: iterator.fragment.bytes, count: iterator.fragment.size)
        }

        deinit { WebPDemuxDelete(demuxer) }

        var coversCanvas: Bool { frame.width == width && frame.height == height }

        var profile: [UInt8]? { chunk("ICCP", atMost: ImageHeader.largestProfile) }

        /// The TIFF structure. Some writers put the marker of JPEG before it.
        var exif: [UInt8]? {
            chunk("EXIF", atMost: ImageHeader.largestEXIF).map { $0.starts(with: "Exif\0\0".utf8) ? Array($0.dropFirst(6)) : $0 }
        }

        /// Also `nil` for a chunk larger than `limit`.
        private func chunk(_ name: String, atMost limit: Int) -> [UInt8]? {
            var iterator = WebPChunkIterator()
            defer { WebPDemuxReleaseChunkIterator(&iterator) }
            guard WebPDemuxGetChunk(demuxer, name, 1, &iterator) != 0, iterator.chunk.size <= limit else { return nil }
            return Array(UnsafeBufferPointer(start: iterator.chunk.bytes, count: iterator.chunk.size))
        }
    }
#endif
