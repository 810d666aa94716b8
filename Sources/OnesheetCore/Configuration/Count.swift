/// A count in a configuration: `64000000` or `64M`.
public struct Count: Sendable, Hashable, Decodable {
    public let value: Int

    public init(_ value: Int) { self.value = value }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        let units: [(String, Int)] = [("k", 1000), ("M", 1_000_000), ("G", 1_000_000_000)]
        let unit = units.first { text.hasSuffix($0.0) } ?? ("", 1)
        guard let number = Int(text.dropLast(unit.0.count)), number >= 0, number <= Int.max / unit.1 else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\(text)” is not a count such as 500 or 64M")
        }
        value = number * unit.1
    }
}
