package import NIOCore

/// A `multipart/byteranges` body (RFC 9110 §14.6).
package struct MultipartRanges {
    package let mediaType: String
    package let body: ByteBuffer

    /// - Parameter validator: a hash of `whole`, so that no part contains the boundary.
    package init(_ parts: [Range<Int>], of whole: ByteBuffer, mediaType: String, validator: String) {
        let boundary = "onesheet-\(validator)"
        var body = ByteBuffer()
        for part in parts {
            body.writeString(
                "--\(boundary)\r\nContent-Type: \(mediaType)\r\n"
                    + "Content-Range: \(Self.contentRange(part, of: whole.readableBytes))\r\n\r\n")
            body.writeImmutableBuffer(whole.slice(part))
            body.writeString("\r\n")
        }
        body.writeString("--\(boundary)--\r\n")
        self.mediaType = "multipart/byteranges; boundary=\(boundary)"
        self.body = body
    }

    package static func contentRange(_ part: Range<Int>, of size: Int) -> String {
        "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
    }
}

extension ByteBuffer {
    /// A slice of the readable bytes, without a copy.
    package func slice(_ part: Range<Int>) -> ByteBuffer {
        guard let slice = getSlice(at: readerIndex + part.lowerBound, length: part.count) else {
            preconditionFailure("\(part) of \(readableBytes) bytes")
        }
        return slice
    }
}
