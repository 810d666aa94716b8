import CImaging
import OnesheetCore
import Synchronization

/// Converts one colour description to sRGB with Little CMS, or sRGB to a profile.
///
/// `@unchecked Sendable`: the C object never changes after it has been made. Its transform is made without the one-pixel cache, the
/// only mutable state of Little CMS transforms, so threads may share it, as the manual says.
final class ColorConversion: @unchecked Sendable {
    private let handle: OpaquePointer
    /// The memory that Little CMS keeps for it: half a megabyte for 17⁴ colours in its own table, otherwise that of the profile.
    let bytes: Int

    /// `nil` if the description is damaged, exceeds the limits, is for other pixels, or changes nothing because the pixels are sRGB
    /// already.
    convenience init?(_ colors: ColorDescription, channels: Int, hasAlpha: Bool) {
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
            guard gamma > 0.1, gamma < 10, points?.isPossible ?? true else { return nil }
            handle = ccolors_from_gamma(gamma, points?.numbers, Int32(channels), hasAlpha)
        case .primaries(let points):
            guard points.isPossible else { return nil }
            handle = ccolors_from_gamma(0, points.numbers, Int32(channels), hasAlpha)
        }
        self.init(handle, bytes: kept)
    }

    /// From sRGB with alpha to the colours of a picture in RGB: for what is drawn on it. `nil` as above.
    convenience init?(to profile: [UInt8]) {
        guard let profile = LimitedProfile(profile)?.bytes else { return nil }
        let handle = profile.withUnsafeBufferPointer { profile in profile.baseAddress.flatMap { ccolors_to_icc($0, profile.count) }
        }
        self.init(handle, bytes: 1 << 20 + profile.count)
    }

    private init?(_ handle: OpaquePointer?, bytes: Int) {
        guard let handle else { return nil }
        guard !ccolors_is_identity(handle) else {
            ccolors_free(handle)
            return nil
        }
        self.handle = handle
        self.bytes = bytes
    }

    deinit { ccolors_free(handle) }

    func apply(_ from: UnsafePointer<UInt8>, _ to: UnsafeMutablePointer<UInt8>, pixels: Int) {
        ccolors_apply(handle, from, to, Int32(pixels))
    }
}

extension Chromaticities {
    fileprivate var numbers: [Double] { [white, red, green, blue].flatMap { [$0.x, $0.y] } }
    fileprivate var isPossible: Bool { numbers.allSatisfy { $0 >= 0 && $0 <= 1 } }
}

/// Recent conversions. Most originals have one of a few profiles, and making a conversion costs more than converting a poster. A
/// profile that equals sRGB is remembered too.
///
/// Profiles are identified by their hash and not stored.
final class ColorConversions: Sendable {
    private struct Key: Hashable {
        let colors: ColorDigest
        let channels: Int
        let hasAlpha: Bool
        /// To the colours, and not from them.
        var isReverse = false
    }

    /// The most bytes of all stored conversions.
    static let limit = 16 << 20

    private let known = Mutex(BoundedCache<Key, ColorConversion?>(bytes: limit, entries: 64))

    /// The bytes of stored conversions, as far as they are known.
    var bytes: Int { known.withLock { $0.bytes } }

    /// `nil` if nothing needs conversion.
    func conversion(_ colors: ColorDescription, model: ColorModel, hasAlpha: Bool) -> ColorConversion? {
        if colors == .sRGB { return nil }
        let key = Key(colors: ColorDigest(colors), channels: model.channels, hasAlpha: hasAlpha)
        return conversion(key) { ColorConversion(colors, channels: key.channels, hasAlpha: hasAlpha) }
    }

    /// From sRGB to the profile of a picture in RGB; `nil` if nothing needs conversion.
    func conversion(to profile: [UInt8]) -> ColorConversion? {
        conversion(Key(colors: ColorDigest(.icc(profile)), channels: 3, hasAlpha: true, isReverse: true)) {
            ColorConversion(to: profile)
        }
    }

    private func conversion(_ key: Key, make: () -> ColorConversion?) -> ColorConversion? {
        if let conversion = known.withLock({ $0.value(for: key) }) { return conversion }
        let conversion = make()
        known.withLock { $0.keep(conversion, for: key, bytes: conversion?.bytes ?? 256) }
        return conversion
    }
}

/// A digest of a colour description in 16 bytes: two hashes with different prefixes. Their key is secret to this process (SipHash),
/// so a collision cannot be constructed.
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
        first = digest(0x6F6E_6573_6865_6574)
        second = digest(0x636F_6C6F_7572_7321)
    }
}
