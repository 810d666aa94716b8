import CJPEG
import OnesheetCore

extension JPEGReader {
    /// The least samples per pixel of the result, for luma corners of 1 to 8 coefficients. Measured: with them the encoded result
    /// is on average within 0.15 dB of one that libjpeg-turbo scales to at least twice the result, and never 0.3 dB below. Three
    /// coefficients lose up to 0.5 dB at 1.5 samples per pixel, and four cost little more. Larger corners hold more of what a pixel
    /// can show, and eight hold everything.
    private static let luma = [2, 1.95, 1.6, 1.45, 1.45, 1.4, 1.3, 0]
    /// The same for chroma. More than the file has is no use.
    private static func chroma(_ corner: Int) -> Double { corner < 8 ? 1.4 : 0 }

    /// The corners of coefficients, in eighths of each side, that suffice for the target: the smallest of luma, and the smallest of
    /// chroma whose samples lie on whole luma samples. `nil` if the library has to decode.
    static func corners(of header: cjpeg_header, for request: DecodeRequest) -> cjpeg_corners? {
        guard header.fits_corner, let target = request.target else { return nil }
        func suffices(_ corner: Int, atLeast least: Double, subsampling: (x: Int, y: Int), chroma: Int) -> Bool {
            let (across, down) = (Double(8 * subsampling.x), Double(8 * subsampling.y))
            return Double(header.width) * Double(corner) / across * Double(chroma) >= least * target.width
                && Double(header.height) * Double(corner) / down * Double(chroma) >= least * target.height
        }
        let subsampling = (x: Int(header.subsampling_x), y: Int(header.subsampling_y))
        for corner in 1...8 where suffices(corner, atLeast: luma[corner - 1], subsampling: (1, 1), chroma: 1) {
            guard header.colors == CJPEG_YCBCR else {
                return cjpeg_corners(luma: Int32(corner), chroma: Int32(corner))
            }
            for small in 1...max(4, corner)
            where suffices(small, atLeast: chroma(small), subsampling: subsampling, chroma: target.chroma) {
                guard subsampling.x * corner % small == 0, subsampling.y * corner % small == 0 else { continue }
                return cjpeg_corners(luma: Int32(corner), chroma: Int32(small))
            }
        }
        return nil
    }
}
