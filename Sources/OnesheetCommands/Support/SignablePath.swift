import OnesheetAddress
import OnesheetCore
import OnesheetImaging
import OnesheetPipeline
import OnesheetServer

/// Checks the part of a free transform's path after the signature as a server with the same configuration does. A path that the server
/// would refuse gets no signature.
struct SignablePath {
    private let grammar: ImageOptions
    private let sources: SourceURL
    private let encryption: SourceEncryption?

    /// - Throws: `ConfigurationError` if a server would not start with the sources or codecs of the configuration.
    init(_ configuration: ServerConfiguration, _ plugins: PluginList) throws {
        let limits = configuration.limits.limits
        var assembly = plugins.assembly(limits: limits)
        assembly.configured = configuration.sources
        let rendering = configuration.rendering
        let renderer = try rendering.renderer(try assembly.codecs(rendering.codecs), limits)
        grammar = try ImageOptions(
            formats: renderer.formats, presets: configuration.presets, presetsOnly: configuration.presetsOnly,
            watermark: renderer.watermark?.digest)
        sources = SourceURL(
            sources: try configuration.sourceNames.compactMap { name in
                try configuration.sources[name].map { (name, try assembly.source($0, named: name)) }
            })
        encryption = configuration.signing.encryptionKey
    }

    /// - Parameter path: begins with a slash.
    /// - Throws: the error with which the server refuses the path.
    func check(_ path: String) throws {
        let inner = path.dropFirst()
        guard !["http://", "https://", "i/"].contains(where: { inner.starts(withBytesOf: $0) }) else {
            throw RequestError.malformed(
                "“\(shown(path: String(inner)))” is a whole address; only the part after the signature is signed, such as "
                    + "rs:fit:342:0/plain/sample://1@jpg")
        }
        // A client sends no such byte in a path, or ends the path there.
        if let mark = path.unicodeScalars.first(where: { $0.value <= 0x20 || $0.value == 0x7F || $0 == "?" || $0 == "#" }) {
            throw ImagePath.unwritable(mark)
        }
        let read = try ImagePath("unsigned\(path)", grammar, signedBy: nil)
        let url: String
        switch read.source {
        case .url(let text): url = text
        case .encrypted(let text):
            guard let encryption else {
                throw RequestError.malformed("this server decrypts no source URLs (configuration: signing.encryptionKey)")
            }
            url = try encryption.decrypt(text)
        }
        let found = try sources.resolve(url)
        guard found.source != nil else {
            throw Failure.unknownSource(found.title.source, known: sources.sources.map(\.name))
        }
    }
}
