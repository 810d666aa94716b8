import OnesheetCore
import Synchronization

/// Conversions made recently. Most originals carry one of a few profiles, and making a conversion costs more than using it on a
/// poster; that a profile is sRGB's is found out once.
///
/// Profiles are known by what they hash to and are not kept.
final class ColorConversions: Sendable {
    private struct Key: Hashable {
        let colors: ColorDigest
        let channels: Int
        let hasAlpha: Bool
    }

    /// Bytes of all conversions that are kept.
    static let limit = 16 << 20

    private let known = Mutex(BoundedCache<Key, ColorConversion?>(bytes: limit, entries: 64))

    /// Bytes that are kept, as far as they can be told.
    var bytes: Int { known.withLock { $0.bytes } }

    /// `nil` where nothing is to be converted.
    func conversion(_ colors: ColorDescription, model: ColorModel, hasAlpha: Bool) -> ColorConversion? {
        if colors == .sRGB { return nil }
        let key = Key(colors: ColorDigest(colors), channels: model.channels, hasAlpha: hasAlpha)
        if let conversion = known.withLock({ $0.value(for: key) }) { return conversion }
        let conversion = ColorConversion(colors, channels: key.channels, hasAlpha: hasAlpha)
        known.withLock { $0.keep(conversion, for: key, bytes: conversion?.bytes ?? 256) }
        return conversion
    }
}

/// A description of colours in 16 bytes: two hashes with different beginnings. Their key is this process's secret (SipHash), so that
/// nobody can make two profiles that look the same here.
struct ColorDigest: Hashable {
    private let first: Int
    private let second: Int

    init(_ colors: ColorDescription) {
        func digest(_ beginning: UInt64) -> Int {
            var hasher = Hasher()
            hasher.combine(beginning)
            hasher.combine(colors)
            return hasher.finalize()
        }
        (first, second) = (digest(0x6F6E_6573_6865_6574), digest(0x636F_6C6F_7572_7321))
    }
}
