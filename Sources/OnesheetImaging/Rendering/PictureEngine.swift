package import NIOCore
package import OnesheetCore

/// Everything that looks at the bytes of pictures. Synchronous, on a worker thread.
///
/// `Renderer` does it on the calling thread, `IsolatedRenderer` in a render process.
package protocol PictureEngine: Sendable {
    /// The formats that can be written.
    var formats: [ImageFormat] { get }
    /// Whether pictures can be read and made now.
    var isReady: Bool { get }
    /// The number of running render processes; 0 in threads.
    var processes: Int { get }

    /// Recognises a file and parses its header.
    /// - Parameter origin: the place of the file, for the log.
    /// - Throws: `RenderError` if it is not a picture within the limits, or if no process reads it.
    func facts(of bytes: ByteBuffer, from origin: String) throws(RenderError) -> PictureFacts

    /// Prepares work on a file.
    /// - Parameter validator: the hash of the bytes: equal for equal files.
    /// - Throws: `RenderError` if it is not a picture within the limits. An engine may find that out later.
    func open(_ bytes: ByteBuffer, named validator: String, from origin: String) throws(RenderError) -> any OpenPicture

    /// Starts what the first picture would wait for.
    func warmUp()

    /// Ends its processes. Work that comes later is done, and leaves none.
    func shutdown()
}

/// A file to work on. Each function throws `RenderError` if the picture is damaged or cannot be made so, or if no process reads it.
package protocol OpenPicture: Sendable {
    /// The predicted cost of `render`.
    func cost(as transforms: [Transform]) throws(RenderError) -> RenderCost

    /// Renders several variants. The results are in the order of `transforms`, and each has the bytes that it has alone.
    /// - Parameter cost: the predicted cost, which bounds the time.
    func render(as transforms: [Transform], predicted cost: RenderCost) throws(RenderError) -> [RenderedImage]

    /// The predicted cost of `hash`.
    func costOfHash() throws(RenderError) -> RenderCost

    /// The perceptual hash.
    /// - Parameter cost: the predicted cost, which bounds the time.
    func hash(predicted cost: RenderCost) throws(RenderError) -> PerceptualHash
}

/// What a file's header says about its picture.
package struct PictureFacts: Sendable, Equatable {
    package var format: ImageFormat
    /// Pixels after orientation.
    package var width: Int
    package var height: Int

    package init(format: ImageFormat, width: Int, height: Int) { (self.format, self.width, self.height) = (format, width, height) }

    package init(_ header: ImageHeader) {
        format = header.format
        (width, height) = header.orientation.swapsSides ? (header.height, header.width) : (header.width, header.height)
    }
}

/// On the calling thread.
extension Renderer: PictureEngine {
    package var isReady: Bool { true }
    package var processes: Int { 0 }

    package func facts(of bytes: ByteBuffer, from origin: String) throws(RenderError) -> PictureFacts {
        PictureFacts(try header(of: bytes))
    }

    package func open(
        _ bytes: ByteBuffer, named validator: String, from origin: String
    ) throws(RenderError) -> any OpenPicture {
        PictureHere(renderer: self, picture: try open(bytes))
    }

    package func warmUp() {}
    package func shutdown() {}
}

/// A picture that is decoded on the calling thread.
private struct PictureHere: OpenPicture {
    let renderer: Renderer
    let picture: EncodedPicture

    func cost(as transforms: [Transform]) throws(RenderError) -> RenderCost { try renderer.cost(picture.file, as: transforms) }

    func render(as transforms: [Transform], predicted cost: RenderCost) throws(RenderError) -> [RenderedImage] {
        try renderer.render(picture, as: transforms)
    }

    func costOfHash() throws(RenderError) -> RenderCost { try renderer.costOfHash(of: picture.file) }

    func hash(predicted cost: RenderCost) throws(RenderError) -> PerceptualHash { try renderer.hash(of: picture) }
}
