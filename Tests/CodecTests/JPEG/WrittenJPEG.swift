import CJPEG
import OnesheetCore

/// Writes files of kinds that the codec only reads, with the underlying library.
struct WrittenJPEG {
    var colors: cjpeg_colors
    var quality: Int32 = 95
    var subsampling: (Int32, Int32) = (1, 1)
    var isProgressive = false
    var isArithmetic = false
    var isUntransformed = false
    var isSeparate = false
    var isPortable = false
    var restartInterval: Int32 = 0

    init(_ colors: cjpeg_colors, _ change: (inout Self) -> Void = { _ in }) {
        self.colors = colors
        change(&self)
    }

    func file(_ picture: borrowing PixelBuffer) throws -> [UInt8] {
        var raw = cjpeg_picture()
        (raw.width, raw.height) = (Int32(picture.layout.width), Int32(picture.layout.height))
        raw.colors = colors
        (raw.subsampling_x, raw.subsampling_y) = subsampling
        raw.quality = quality
        (raw.progressive, raw.arithmetic, raw.untransformed) = (isProgressive, isArithmetic, isUntransformed)
        (raw.separate, raw.portable) = (isSeparate, isPortable)
        raw.restart_interval = restartInterval
        raw.planes.0 = picture.withPlane(0) { $0 }
        raw.strides.0 = picture.stride(of: 0)
        if picture.layout.isPlanar {
            (raw.planes.1, raw.planes.2) = (picture.withPlane(1) { $0 }, picture.withPlane(2) { $0 })
            (raw.strides.1, raw.strides.2) = (picture.stride(of: 1), picture.stride(of: 2))
        }
        var bytes: UnsafeMutablePointer<UInt8>?
        var (length, message) = (0, [CChar](repeating: 0, count: Int(CJPEG_MESSAGE)))
        guard cjpeg_write(&raw, &bytes, &length, &message) == CJPEG_OK, let bytes else {
            throw CodecError.unsupported("this kind of fixture")
        }
        defer { cjpeg_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: length))
    }
}

extension [UInt8] {
    /// The position of a frame header (SOF): the second byte of its marker.
    var frame: Int? {
        indices.first { $0 > 1 && self[$0 - 1] == 0xFF && (0xC0...0xC2).contains(self[$0]) }
    }
}
