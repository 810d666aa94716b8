import CColors
import OnesheetCore

/// From one description of colours to sRGB, through Little CMS.
///
/// `@unchecked Sendable`: the C side never changes after it has been made; its transform is made without the one state that Little
/// CMS transforms have (their one-pixel cache), and threads may then share it, as its manual says.
final class ColorConversion: @unchecked Sendable {
    private let handle: OpaquePointer
    /// What Little CMS keeps of it: half a megabyte for 17⁴ colours in a table of its own; the profile's where it makes none.
    let bytes: Int

    /// `nil` where the description is broken, takes more than it should, is of another kind of pixels, or changes nothing: then pixels are sRGB already.
    init?(_ colors: ColorDescription, channels: Int, hasAlpha: Bool) {
        let handle: OpaquePointer?
        var kept = 1 << 20
        switch colors {
        case .sRGB: return nil
        case .icc(let original):
            guard let profile = LimitedProfile(original)?.bytes else { return nil }
            kept += profile.count
            handle = profile.withUnsafeBufferPointer { profile in
                profile.baseAddress.flatMap { ccolors_from_icc($0, profile.count, Int32(channels), hasAlpha) }
            }
        case .gamma(let gamma, let points):
            guard gamma > 0.1, gamma < 10 else { return nil }
            let xy = points.map { [$0.white, $0.red, $0.green, $0.blue].flatMap { [$0.x, $0.y] } }
            if let xy, !xy.allSatisfy({ $0 >= 0 && $0 <= 1 }) { return nil }
            handle = ccolors_from_gamma(gamma, xy, Int32(channels), hasAlpha)
        }
        guard let handle else { return nil }
        guard !ccolors_is_identity(handle) else {
            ccolors_free(handle)
            return nil
        }
        self.handle = handle
        bytes = kept
    }

    deinit { ccolors_free(handle) }

    func apply(_ from: UnsafePointer<UInt8>, _ to: UnsafeMutablePointer<UInt8>, pixels: Int) {
        ccolors_apply(handle, from, to, Int32(pixels))
    }
}
