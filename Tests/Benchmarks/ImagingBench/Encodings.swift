import AVIFCodec
import Foundation
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import PNGCodec
import WebPCodec

/// Renders with each codec and quality, for `quality.py`.
struct Encodings {
    let directory: URL

    func draw() throws {
        for scene in Scene.allCases {
            for (scale, ending) in [(1, ""), (2, "-large")] {
                let body = try JPEGCodec().encode(try scene.draw(scale: scale), EncodeOptions(quality: 92))
                try Data(body.readableBytesView).write(to: directory.appendingPathComponent("\(scene)\(ending).original"))
            }
        }
        let large = try JPEGCodec().encode(
            try DrawnPoster(width: 2000, height: 3000).draw(planes: (2, 2)), EncodeOptions(quality: 92))
        try Data(large.readableBytesView).write(to: directory.appendingPathComponent("large.original"))
    }

    /// Answers lines `SCENE WIDTH FORMAT QUALITY EFFORT REPEATS`: writes the variant to `quality.out`, and prints the processor time of
    /// a render in seconds. The quality may be `auto`, and the effort `-`, the codec's own, or `stored` without linear light. The effort of
    /// JPEG is 0, or 1 for optimised tables.
    func serve() throws {
        var renderers: [String: Renderer] = [:]
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 6, let width = Int(words[1]), let format = Self.formats[words[2]], let repeats = Int(words[5])
            else {
                print("not understood: \(line)")
                continue
            }
            var renderer = try renderers[words[4]] ?? Self.renderer(Int(words[4]))
            renderer.resamplesInLinearLight = words[4] != "stored"
            renderers[words[4]] = renderer
            var transform = Transform()
            (transform.width, transform.format) = (width, format)
            if let quality = Int(words[3]) { transform.quality = quality } else { transform.findsQuality = true }
            let original = ByteBuffer(bytes: try Data(contentsOf: directory.appendingPathComponent("\(words[0]).original")))
            let start = clock()
            var body = ByteBuffer()
            for _ in 0..<repeats { body = try renderer.render(original, as: transform).body }
            let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC) / Double(repeats)
            try Data(body.readableBytesView).write(to: directory.appendingPathComponent("quality.out"))
            FileHandle.standardOutput.write(Data("\(seconds)\n".utf8))
        }
    }

    private static let formats: [String: ImageFormat] = ["jpeg": .jpeg, "webp": .webp, "avif": .avif, "png": .png]

    private static func renderer(_ effort: Int?) throws -> Renderer {
        var jpeg = JPEGCodec.Configuration()
        jpeg.optimize = effort == 1
        let codecs: [any Codec] =
            effort.map { [SteadyJPEG(codec: JPEGCodec(jpeg)), WebPCodec(effort: $0), AVIFCodec(effort: $0), PNGCodec()] }
            ?? [JPEGCodec(), WebPCodec(), AVIFCodec(), PNGCodec()]
        return Renderer(codecs: codecs, limits: Limits())
    }
}

/// JPEG without the renderer's choice of effort.
private struct SteadyJPEG: Codec {
    let codec: JPEGCodec
    var format: ImageFormat { .jpeg }
    var encodesPlanar: Bool { true }
    var scales: Bool { true }

    func recognizes(_ bytes: Span<UInt8>) -> Bool { codec.recognizes(bytes) }

    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader { try codec.header(of: bytes) }

    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        try codec.decode(bytes, request, into: &sink)
    }

    func decode<Sink: RowSink>(_ bytes: Span<UInt8>, _ requests: [DecodeRequest], into sinks: inout [Sink]) throws(CodecError) {
        try codec.decode(bytes, requests, into: &sinks)
    }

    func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        var steady = options
        steady.effort = nil
        return try codec.encode(picture, steady)
    }
}
