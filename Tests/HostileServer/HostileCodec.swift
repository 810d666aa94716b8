import CHostile
import OnesheetCore

/// Reads files such as `HOSTILE decode crash 8080`: the part of its work in which it does the deed, the deed of `CHostile`, and a port.
/// A deed that leaves the process alive is a damaged picture.
struct HostileCodec: DecoderPlugin {
    struct Configuration: Decodable, Sendable {
        /// Whether render processes cannot be started.
        var refuses = false

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: Keys.self)
            refuses = try keys.decodeIfPresent(Bool.self, forKey: .refuses) ?? false
        }

        private enum Keys: String, CodingKey { case refuses }
    }

    static let type = "hostile"
    static let sampleConfiguration = """
        type: hostile
        """

    let format = ImageFormat(name: "hostile", mediaType: "image/x-hostile", extensions: ["hostile"], hasAlpha: false)

    init(_ configuration: Configuration, context: PluginContext) throws {
        guard !configuration.refuses || CommandLine.arguments.dropFirst().first != "render-process" else {
            throw ConfigurationError(path: "refuses", message: "as configured")
        }
    }

    func recognizes(_ bytes: Span<UInt8>) -> Bool { bytes.withUnsafeBufferPointer { $0.starts(with: "HOSTILE ".utf8) } }

    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
        try act("header", bytes)
        return ImageHeader(format: format, width: 64, height: 64, model: .gray)
    }

    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        try sink.begin(PixelLayout(width: 64, height: 64, model: .gray))
        try act("decode", bytes)
        let row = [UInt8](repeating: 128, count: 64)
        for y in 0..<64 { try sink.row(row.span, plane: 0, y: y) }
    }

    private func act(_ part: String, _ bytes: Span<UInt8>) throws(CodecError) {
        let words = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }.split(separator: " ").map(String.init)
        guard words.count >= 4, words[1] == part else { return }
        guard chostile_do(words[2], Int32(words[3]) ?? 0) == 1 else { throw .damaged(reason: "unknown deed") }
        throw .damaged(reason: "survived")
    }
}
