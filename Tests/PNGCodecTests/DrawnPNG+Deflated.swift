import CPNG
import OnesheetCore

extension DrawnPNG {
    /// A zlib stream of libdeflate: stored blocks at level 0, otherwise of codes, some of them fixed.
    static func deflated(_ bytes: [UInt8], level: Int32) throws(CodecError) -> [UInt8] {
        var stream: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard cpng_deflate(bytes, bytes.count, level, &stream, &count) == CPNG_OK, let stream else { throw .outOfMemory }
        defer { cpng_free(stream) }
        return Array(UnsafeBufferPointer(start: stream, count: count))
    }

    /// The file with another stream of its rows.
    func file(of stream: [UInt8]) -> [UInt8] {
        Self.file(header: header, chunks: early + paletteChunks + pictureChunks(stream) + late)
    }
}
