/// Finds the lowest quality at which an encoded picture looks as wanted, in a few attempts.
///
/// Interpolates between the nearest attempts on both sides, as if the logarithm of the distance fell evenly with the quality. Beyond
/// all attempts, it extrapolates with the usual slope. It computes in whole numbers, so that all processors make the same attempts.
struct QualitySearch {
    /// The most encodings of a picture.
    static let attempts = 4
    /// The pixels of the largest picture whose quality is found. A search for a larger one would take too much time and memory.
    static let largest = 2_000_000
    /// Above, chroma would be stored at full resolution; below, the number no longer says much.
    static let qualities = 40...89

    private let target = VisibleDistance.jpegOf80
    private var tried: [(quality: Int, distance: VisibleDistance)]

    /// After the first attempt.
    init(_ quality: Int, _ distance: VisibleDistance) { tried = [(quality, distance)] }

    /// The quality of the next attempt; `nil` if no attempt is left or worth its time.
    var next: Int? {
        guard tried.count < Self.attempts else { return nil }
        let worse = tried.filter { $0.distance > target }.max { $0.quality < $1.quality }
        // Distances may rise a little with the quality.
        let better = tried.filter { $0.distance <= target && $0.quality > worse?.quality ?? 0 }.min { $0.quality < $1.quality }
        let lowest = (worse?.quality).map { $0 + 1 } ?? Self.qualities.lowerBound
        let highest = (better?.quality).map { $0 - 1 } ?? Self.qualities.upperBound
        guard lowest <= highest else { return nil }
        let guess: Int
        switch (worse, better) {
        case (nil, nil): return nil
        case (let worse?, nil):
            // More and more steps for safety.
            guess = worse.quality + Self.logarithm(worse.distance, target) / Self.climb + tried.count
        case (nil, let better?):
            guard Self.logarithm(target, better.distance) > Self.close else { return nil }
            guess = better.quality - Self.logarithm(target, better.distance) / Self.descent
        case (let worse?, let better?):
            guard Self.logarithm(target, better.distance) > Self.close else { return nil }
            let (above, below) = (Self.logarithm(worse.distance, target), Self.logarithm(target, better.distance))
            let steps = better.quality - worse.quality
            // Rounded up, to the better side.
            guess = worse.quality + (steps * above + above + below - 1) / max(above + below, 1)
        }
        return min(max(guess, lowest), highest)
    }

    mutating func note(_ quality: Int, _ distance: VisibleDistance) { tried.append((quality, distance)) }

    /// A thousand times the logarithm below which a better attempt is good enough: about one step of quality.
    private static let close = 30

    /// The same for a usual step of quality, above and below `jpegOf80`.
    private static let (climb, descent) = (40, 30)

    /// About a thousand times the natural logarithm of `larger` / `smaller`.
    private static func logarithm(_ larger: VisibleDistance, _ smaller: VisibleDistance) -> Int {
        2000 * (larger.units - smaller.units) / max(larger.units + smaller.units, 1)
    }
}
