/// A size of a ladder: a width or a height in pixels, which the other side follows.
package struct LadderSize: Hashable, Sendable {
    package let width: Int
    package let height: Int

    /// As in paths: `w342`, `h632`.
    package var name: String { width > 0 ? "w\(width)" : "h\(height)" }

    fileprivate static func width(_ width: Int) -> Self { Self(width: width, height: 0) }
    fileprivate static func height(_ height: Int) -> Self { Self(width: 0, height: height) }
}

extension ImageKind {
    /// The sizes of a kind, the smallest first. They are those of TMDB, which has no banners.
    package var sizes: [LadderSize] {
        switch self {
        case .poster, .season: [92, 154, 185, 342, 500, 780].map(LadderSize.width)
        case .backdrop, .banner: [300, 780, 1280].map(LadderSize.width)
        case .logo: [45, 92, 154, 185, 300, 500].map(LadderSize.width)
        case .still: [92, 185, 300].map(LadderSize.width)
        case .profile: [.width(45), .width(185), .height(632)]
        }
    }

    /// The width of the largest size. A portrait is two by three.
    package var widest: Int { sizes.map { max($0.width, $0.height * 2 / 3) }.max() ?? 0 }
}
