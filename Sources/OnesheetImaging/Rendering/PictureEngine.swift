package import NIOCore
package import OnesheetCore

/// Everything that looks at the bytes of pictures. Synchronous, on a worker thread.
///
/// `Renderer` does it on the calling thread, `IsolatedRenderer` in a render process. Each function throws `RenderError` if the file is not a
/// picture within the limits, is damaged or cannot be made so, or if no process reads it.
package protocol PictureEngine: Sendable {
    /// The formats that can be written.
    var formats: [ImageFormat] { get }
    /// Whether pictures can be read and made now.
    var isReady: Bool { get }
    /// The number of running render processes; 0 in threads.
    var processes: Int { get }
    /// Whether it works on a copy of the file.
    var copiesFiles: Bool { get }

    /// Recognises a file and parses its header.
    func outline(of file: PictureFile) throws(RenderError) -> PictureOutline

    /// The predicted cost of `render`. It needs no bytes, so any thread may ask.
    func cost(of outline: PictureOutline, as transforms: [Transform]) throws(RenderError) -> RenderCost

    /// Renders several variants. The results are in the order of `transforms`, and each has the bytes that it has alone.
    /// - Parameter cost: the predicted cost, which bounds the time.
    func render(
        _ file: PictureFile, as transforms: [Transform], predicted cost: RenderCost
    ) throws(RenderError) -> [RenderedImage]

    /// The predicted cost of `hash`. It needs no bytes, so any thread may ask.
    func costOfHash(of outline: PictureOutline) throws(RenderError) -> RenderCost

    /// The perceptual hash.
    /// - Parameter cost: the predicted cost, which bounds the time.
    func hash(of file: PictureFile, predicted cost: RenderCost) throws(RenderError) -> PerceptualHash

    /// Starts the work that the first picture would wait for.
    func warmUp()

    /// Ends its processes. Later work is still done, and leaves no process behind.
    func shutdown()
}

/// A file from outside.
package struct PictureFile: Sendable {
    package let bytes: ByteBuffer
    /// The hash of the bytes: equal for equal files.
    package let validator: String
    /// Its place, for the log.
    package let origin: String

    package init(bytes: ByteBuffer, validator: String, origin: String) {
        self.bytes = bytes
        self.validator = validator
        self.origin = origin
    }
}

/// On the calling thread.
extension Renderer: PictureEngine {
    package var isReady: Bool { true }
    package var processes: Int { 0 }
    package var copiesFiles: Bool { false }

    package func outline(of file: PictureFile) throws(RenderError) -> PictureOutline { try open(file.bytes).outline }

    package func render(
        _ file: PictureFile, as transforms: [Transform], predicted cost: RenderCost
    ) throws(RenderError) -> [RenderedImage] {
        try render(file.bytes, as: transforms)
    }

    package func hash(of file: PictureFile, predicted cost: RenderCost) throws(RenderError) -> PerceptualHash {
        try hash(of: open(file.bytes))
    }

    package func warmUp() {}
    package func shutdown() {}
}
