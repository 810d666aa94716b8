/// A duration in a configuration: `500ms`, `10s`, `5m`, `2h`, `7d`.
public struct Interval: Sendable, Hashable, Decodable {
    /// The length of the interval.
    public let duration: Duration

    public init(_ duration: Duration) { self.duration = duration }

    /// Reads a number and a unit.
    public init?(_ text: String) {
        let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]
        guard let unit = units.first(where: { text.hasSuffix($0.0) }), let count = Double(text.dropLast(unit.0.count)),
            count >= 0, count.isFinite, count * unit.1 < 1e12
        else { return nil }
        duration = .milliseconds(Int64(count * unit.1 * 1000))
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let interval = Interval(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” is not a duration such as 500ms, 10s, 5m, 2h or 7d")
        }
        self = interval
    }

    public var seconds: Double { duration / .seconds(1) }
}
