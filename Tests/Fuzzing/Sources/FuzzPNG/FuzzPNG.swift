import CFuzzing
import Foundation
import PNGCodec
import OnesheetCore

/// Header and pixels of any bytes, in each way that they can be asked for: an answer or a typed error, never anything else.
private func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let codec = PNGCodec()
    let bytes = Span(_unsafeElements: UnsafeBufferPointer(start: start, count: count))
    _ = codec.recognizes(bytes)
    do throws(CodecError) {
        _ = try codec.header(of: bytes)
    } catch {}
    for (planar, truncated, least) in [(true, false, 1), (false, true, 1), (true, true, Int.max)] {
        let request = DecodeRequest(
            minimumWidth: least, minimumHeight: least, acceptsPlanar: planar, acceptsTruncated: truncated,
            limits: Limits(pixels: 100_000, scans: 20))
        var sink = Touching()
        do throws(CodecError) {
            try codec.decode(bytes, request, into: &sink)
        } catch {}
    }
    return 0
}

/// Reads every sample that it is given.
struct Touching: RowSink {
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

@main
enum FuzzPNG {
    static func main() { exit(cfuzzing_run(CommandLine.argc, CommandLine.unsafeArgv) { fuzz($0, $1) }) }
}
