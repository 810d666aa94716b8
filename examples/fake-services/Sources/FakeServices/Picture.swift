internal import CTurboJPEG
internal import FoundationEssentials
#if canImport(Glibc)
    internal import Glibc
#endif

/// A drawn picture: hills, a disc and rays in the colours of its seed.
struct Picture: Sendable {
    let seed: Int
    /// Posters are framed; photos are not.
    let isPoster: Bool

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func jpeg(width: Int, height: Int) throws -> [UInt8] {
        var pixels = [UInt8](repeating: 0, count: width * height * 3)
        pixels.withUnsafeMutableBufferPointer { pixels in
            for y in 0..<height {
                for x in 0..<width {
                    let colour = colour(Float(x) / Float(width), Float(y) / Float(height), aspect: Float(height) / Float(width))
                    let noise = Float((x &* 73_856_093 ^ y &* 19_349_663 ^ seed) & 0xFF) / 255 - 0.5
                    let bytes = (colour * 255 + noise * 7).clamped(lowerBound: .zero, upperBound: SIMD3(repeating: 255))
                    for channel in 0..<3 { pixels[(y * width + x) * 3 + channel] = UInt8(bytes[channel]) }
                }
            }
        }
        return try encode(pixels, width: width, height: height)
    }

    /// The colour at a point, `x` and `y` from 0 to 1.
    private func colour(_ x: Float, _ y: Float, aspect: Float) -> SIMD3<Float> {
        let hue = Float(seed * 47 % 360) / 360
        let (sky, ground, light) = (tone(hue, 0.78), tone(hue + 0.08, 0.2), tone(hue + 0.45, 0.85))
        var colour = tone(hue + 0.55, 0.35) + (sky - tone(hue + 0.55, 0.35)) * y
        let away = SIMD2(x - 0.5, (y - 0.36) * aspect)
        let distance = (away * away).sum().squareRoot()
        let ray = sinf(atan2f(away.y, away.x) * Float(6 + seed % 9))
        if seed.isMultiple(of: 2), ray > 0 { colour += (light - colour) * 0.25 }
        colour += (light - colour) * max(0, 0.6 - distance) * 0.9
        if distance < 0.21 { colour = light }
        for layer in 0..<4 {
            let shift = Float(seed + layer * 5)
            let ridge =
                0.52 + Float(layer) * 0.12 + 0.05 * sinf(x * (5 + shift.truncatingRemainder(dividingBy: 4)) + shift) + 0.02
                * sinf(x * 17 + shift)
            if y > ridge { colour = ground + (sky - ground) * (0.6 - 0.18 * Float(layer)) }
        }
        let edge = min(min(x, 1 - x), min(y, 1 - y) * aspect)
        if isPoster, edge < 0.045 { colour = edge < 0.035 ? light : ground }
        return colour
    }

    private func tone(_ hue: Float, _ lightness: Float) -> SIMD3<Float> {
        let turn = hue * 2 * .pi
        let wheel = SIMD3(cosf(turn), cosf(turn - 2.094), cosf(turn + 2.094))
        return SIMD3(repeating: lightness) + wheel * (0.22 * (1 - abs(lightness - 0.5)))
    }

    private func encode(_ pixels: [UInt8], width: Int, height: Int) throws -> [UInt8] {
        guard let compressor = tjInitCompress() else { throw Failure(description: "libjpeg-turbo cannot start") }
        defer { tjDestroy(compressor) }
        var memory: UnsafeMutablePointer<UInt8>?
        var size: UInt = 0
        defer { tjFree(memory) }
        let status = tjCompress2(
            compressor, pixels, Int32(width), 0, Int32(height), Int32(TJPF_RGB.rawValue), &memory, &size,
            Int32(TJSAMP_420.rawValue), 88, 0)
        guard status == 0, let memory else { throw Failure(description: String(cString: tjGetErrorStr2(compressor))) }
        return Array(UnsafeBufferPointer(start: memory, count: Int(size)))
    }
}
