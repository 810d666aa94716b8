/// The addresses of one transform in each grammar that the server knows (`GET /addresses`).
public struct TransformAddresses: Sendable, Equatable, Decodable {
    /// The title as `source://id`.
    public let title: String
    /// The options in canonical order.
    public let options: [String]
    /// The extension of the format; `nil` if it is the original's own.
    public let format: String?
    /// The path in the server's own grammar; `nil` if it needs a signature and the request has no administrator's token.
    public let address: String?
    /// Whether a key has signed the path.
    public let isSigned: Bool?
    private let others: [String: String?]?

    /// The paths by the name of the dialect, of the dialects that can express the transform.
    public var dialects: [String: String] { (others ?? [:]).compactMapValues(\.self) }

    private enum CodingKeys: String, CodingKey {
        case title, options, format, address, isSigned
        case others = "dialects"
    }
}
