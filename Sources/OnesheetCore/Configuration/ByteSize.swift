/// A number of bytes in a configuration: `4096`, `64KiB`, `256MiB`, `10GiB`, `10MB`.
public struct ByteSize: Sendable, Hashable, Decodable {
    /// The size in bytes.
    public let bytes: Int

    public init(_ bytes: Int) { self.bytes = bytes }

    /// Reads a number and, optionally, a unit (IEC 80000-13 and SI).
    public init?(_ text: String) {
        let units: [(String, Double)] = [
            ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776), ("KB", 1e3), ("MB", 1e6),
            ("GB", 1e9), ("TB", 1e12), ("B", 1),
        ]
        let unit = units.first { text.hasSuffix($0.0) } ?? ("", 1)
        guard let count = Double(text.dropLast(unit.0.count)), count >= 0, count * unit.1 < 1e18 else { return nil }
        bytes = Int(count * unit.1)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let size = ByteSize(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "“\(text)” is not a number of bytes such as 4096, 64KiB or 10GiB")
        }
        self = size
    }
}
