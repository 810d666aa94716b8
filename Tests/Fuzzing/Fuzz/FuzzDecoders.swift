import AVIFCodec
import GIFCodec
import JPEGCodec
import OnesheetCore
import PNGCodec
import WebPCodec

#if HEIC
    import HEICCodec
#endif
#if JXL
    import JPEGXLCodec
#endif
#if TIFF
    import TIFFCodec
#endif

/// Decodes the header and pixels of arbitrary bytes in every mode. The result is a picture or a typed error.
enum FuzzDecoders {
    static func jpeg(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt { decode(bytes, JPEGCodec()) }
    static func png(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt { decode(bytes, PNGCodec()) }
    static func webp(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt { decode(bytes, WebPCodec()) }
    static func avif(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt { decode(bytes, AVIFCodec()) }
    static func gif(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt { decode(bytes, GIFCodec()) }

    #if TIFF
        static func tiff(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt { decode(bytes, TIFFCodec()) }
    #endif
    #if HEIC
        static func heic(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt { decode(bytes, HEICCodec()) }
    #endif
    #if JXL
        static func jxl(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt { decode(bytes, JPEGXLCodec()) }
    #endif

    private static func decode(_ bytes: UnsafeBufferPointer<UInt8>, _ codec: some ImageDecoder) -> CInt {
        let bytes = Span(_unsafeElements: bytes)
        _ = codec.recognizes(bytes)
        do throws(CodecError) {
            _ = try codec.header(of: bytes)
        } catch {}
        for (planar, truncated, least) in [(true, false, 1), (false, true, 1), (true, true, Int.max)] {
            let request = DecodeRequest(
                minimumWidth: least, minimumHeight: least, acceptsPlanar: planar, acceptsTruncated: truncated,
                limits: Limits(pixels: 100_000, scans: 20))
            var sink = ReadingSink()
            do throws(CodecError) {
                try codec.decode(bytes, request, into: &sink)
            } catch {}
        }
        return 0
    }
}

/// Reads every sample.
private struct ReadingSink: RowSink {
    private var layout: PixelLayout?
    private var sum = 0

    mutating func begin(_ layout: PixelLayout) { self.layout = layout }

    mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) {
        guard let shape = layout?.planes[plane] else { preconditionFailure("a row before the beginning") }
        precondition(
            (0..<shape.height).contains(y) && samples.count >= shape.width * shape.channels, "a row outside of the picture")
        for index in 0..<samples.count { sum &+= Int(samples[index]) }
    }
}
