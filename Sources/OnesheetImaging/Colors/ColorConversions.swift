import OnesheetCore
import Synchronization

/// Conversions made recently. Most originals carry one of a few profiles, and making a conversion costs more than using it on a
/// poster; that a profile is sRGB's is found out once.
final class ColorConversions: Sendable {
    private struct Key: Hashable {
        let colors: ColorDescription
        let channels: Int
        let hasAlpha: Bool
    }

    /// Conversions kept; when more are made, all are dropped.
    private static let capacity = 32

    private let known = Mutex<[Key: ColorConversion?]>([:])

    /// `nil` where nothing is to be converted.
    func conversion(_ colors: ColorDescription, model: ColorModel, hasAlpha: Bool) -> ColorConversion? {
        if colors == .sRGB { return nil }
        let key = Key(colors: colors, channels: model.channels, hasAlpha: hasAlpha)
        if let conversion = known.withLock({ $0[key] }) { return conversion }
        let conversion = ColorConversion(colors, channels: key.channels, hasAlpha: hasAlpha)
        known.withLock { known in
            if known.count >= Self.capacity { known.removeAll() }
            known[key] = .some(conversion)
        }
        return conversion
    }
}
