#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The weight of a sample as a function of its distance.
enum Kernel: Hashable, Sendable {
    /// A sinc windowed by a wider sinc, with three lobes (Lanczos): for shrinking.
    case lanczos3
    /// The interpolating cubic whose slope is half the difference of the neighbours (Catmull-Rom): for enlarging, where three lobes
    /// would ring.
    case catmullRom
    /// A Gaussian with this standard deviation in samples: for blurring.
    case gaussian(Double)

    /// The distance beyond which all weights are zero.
    var support: Double {
        switch self {
        case .lanczos3: 3
        case .catmullRom: 2
        case .gaussian(let deviation): 3 * deviation
        }
    }

    func weight(_ distance: Double) -> Double {
        let x = abs(distance)
        guard x < support else { return 0 }
        switch self {
        case .lanczos3:
            if x < 1e-9 { return 1 }
            return 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
        case .catmullRom:
            return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2
        case .gaussian(let deviation):
            return exp(-x * x / (2 * deviation * deviation))
        }
    }
}
