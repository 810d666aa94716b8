package import OnesheetCore

/// The codecs of a renderer, and its decoders of formats that are only read.
package struct CodecSet: Sendable {
    /// In the order of preference.
    let codecs: [any Codec]
    /// The codecs and the other decoders.
    let decoders: [any ImageDecoder]

    /// - Parameter decoders: the decoders of formats that are only read.
    package init(codecs: [any Codec], decoders: [any ImageDecoder] = []) {
        self.codecs = codecs
        self.decoders = codecs.map { $0 as any ImageDecoder } + decoders
    }

    /// The formats that can be written.
    var writable: [ImageFormat] { codecs.map(\.format) }
    /// The formats that can be read.
    var readable: [ImageFormat] { decoders.map(\.format) }

    /// The codec for the output of `transform`.
    ///
    /// Without a format, that is the codec of the original. If the original's format is only read, or not read by all clients that the
    /// output is for, it is PNG for a picture that stays transparent, otherwise JPEG.
    /// - Throws: `RenderError.noEncoder`.
    func encoder(of transform: Transform, from header: ImageHeader) throws(RenderError) -> any Codec {
        let keepsFormat = !transform.isForAllClients || header.format.isReadEverywhere
        if keepsFormat, let codec = codec(transform.format ?? header.format) { return codec }
        guard transform.format == nil else { throw .noEncoder(for: transform.format ?? header.format) }
        let keepsAlpha = header.hasAlpha && transform.background == nil
        guard let codec = codec(keepsAlpha ? .png : .jpeg) ?? codecs.first else { throw .noEncoder(for: header.format) }
        return codec
    }

    /// - Throws: `RenderError.unrecognizedFormat`.
    func decoder(of format: ImageFormat) throws(RenderError) -> any ImageDecoder {
        guard let decoder = decoders.first(where: { $0.format == format }) else { throw .unrecognizedFormat }
        return decoder
    }

    private func codec(_ format: ImageFormat) -> (any Codec)? { codecs.first { $0.format == format } }
}
