/// An offset from Greenwich, written `+09:00`. Named zones would need a table that changes every year.
public struct ZoneOffset: Sendable, Hashable, Decodable {
    /// Seconds east of UTC.
    public let seconds: Int

    /// Parses `+09:00` and `-03:30`; any other text is `nil`.
    public init?(_ text: some StringProtocol) {
        let parts = text.dropFirst().split(separator: ":").map { Int($0) }
        guard let sign = text.first, sign == "+" || sign == "-", text.utf8.count == 6, parts.count == 2, let hours = parts[0],
            let minutes = parts[1], (0...14).contains(hours), (0..<60).contains(minutes)
        else { return nil }
        seconds = (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let offset = ZoneOffset(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "“\(text)” is not an offset such as +09:00")
        }
        self = offset
    }
}
