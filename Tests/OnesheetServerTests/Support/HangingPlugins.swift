import Foundation
import NIOCore
import OnesheetCore

/// Simulates foreign code that hangs: it waits until the test opens a named pipe.
enum HangingPlugins {
    struct Configuration: Decodable, Sendable {
        /// The path of the pipe.
        var door = ""

        private enum CodingKeys: CodingKey { case door }

        init(from decoder: any Decoder) throws {
            door = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .door)
        }
    }

    static let sample = "door: /tmp/door\n"

    /// Blocks the thread until the test writes to the pipe.
    static func pass(_ door: String) {
        let pipe = open(door, O_RDONLY)
        if pipe >= 0 { close(pipe) }
    }
}

/// A codec for files that begin with `HANG`. It hangs during decoding.
struct HangingCodec: CodecPlugin {
    static let type = "hang"
    static let sampleConfiguration = HangingPlugins.sample
    static let file = "HANG"

    let format = ImageFormat(name: "hang", mediaType: "image/hang", extensions: ["hang"], hasAlpha: false)
    private let door: String

    init(_ configuration: HangingPlugins.Configuration, context: PluginContext) { door = configuration.door }

    func recognizes(_ bytes: Span<UInt8>) -> Bool { bytes.count >= 4 && bytes[0] == 0x48 && bytes[1] == 0x41 }

    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
        ImageHeader(format: format, width: 60, height: 90, model: .rgb)
    }

    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        HangingPlugins.pass(door)
        throw .truncated
    }

    func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        throw .unsupported("writing")
    }
}

/// A source that blocks its threads in calls for titles.
struct HangingSource: SourcePlugin {
    static let type = "hang"
    static let sampleConfiguration = HangingPlugins.sample

    let originPolicy = OriginPolicy()
    private let door: String

    init(_ configuration: HangingPlugins.Configuration, context: PluginContext) { door = configuration.door }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("lists") }
    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }

    func title(_ id: String) async throws(SourceError) -> Title {
        HangingPlugins.pass(door)
        return Title(id: id, name: "One")
    }
}

/// A source whose candidates hang until the caller leaves. It has every title.
struct HangingCandidates: SourcePlugin {
    static let type = "hanging-candidates"
    static let sampleConfiguration = HangingPlugins.sample

    let originPolicy = OriginPolicy()

    init(_ configuration: HangingPlugins.Configuration, context: PluginContext) {}

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("lists") }
    func title(_ id: String) async throws(SourceError) -> Title { Title(id: id, name: "One") }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        let (ends, end) = AsyncStream<Void>.makeStream()
        // Only the cancellation of the caller ends the stream.
        for await _ in ends {}
        withExtendedLifetime(end) {}
        throw .unavailable(reason: "the caller has left")
    }
}
