package import NIOCore
package import OnesheetCore

/// A variant as it is served: encoded, with its facts.
package struct RenderedImage: Sendable {
    package var body: ByteBuffer
    package var format: ImageFormat
    package var width: Int
    package var height: Int
    package var placeholder: Placeholder

    init(body: ByteBuffer, format: ImageFormat, width: Int, height: Int, placeholder: Placeholder) {
        self.body = body
        self.format = format
        self.width = width
        self.height = height
        self.placeholder = placeholder
    }
}
