internal import CTurboJPEG
internal import NIOCore
internal import OnesheetCore

/// Encodes a canvas with libjpeg-turbo.
struct JPEGEncoder {
    /// From 1 to 100.
    let quality: Int32

    func encode(_ canvas: Canvas) throws(SourceError) -> ByteBuffer {
        guard let compressor = tjInitCompress() else { throw .unavailable(reason: "libjpeg-turbo cannot start: \(message(nil))") }
        defer { tjDestroy(compressor) }
        var size: UInt = 0
        var memory: UnsafeMutablePointer<UInt8>?
        defer { tjFree(memory) }
        let status = canvas.bytes.withUnsafeBufferPointer { bytes in
            tjCompress2(
                compressor, bytes.baseAddress, Int32(canvas.width), 0, Int32(canvas.height), Int32(TJPF_RGB.rawValue), &memory,
                &size,
                Int32(TJSAMP_420.rawValue), quality, 0)
        }
        guard status == 0, let memory else { throw .unavailable(reason: "libjpeg-turbo cannot encode: \(message(compressor))") }
        return ByteBuffer(bytes: UnsafeBufferPointer(start: memory, count: Int(size)))
    }

    private func message(_ handle: tjhandle?) -> String { String(cString: tjGetErrorStr2(handle)) }
}
