/// The kinds of images that a title has.
public enum ImageKind: String, Sendable, Hashable, Codable, CaseIterable, CodingKey {
    /// The standard upright film poster. It is the default kind.
    case poster
    /// A wide image for backgrounds, usually without text.
    case backdrop
    /// The name of the title as it is drawn, usually on a transparent ground.
    case logo
    /// A scene.
    case still
    /// A portrait of a person.
    case profile
    /// A very wide image with the name.
    case banner
    /// The poster of a season.
    case season

    public var description: String { rawValue }

    /// Whether images of this kind usually have words, so that their language matters.
    package var hasText: Bool {
        switch self {
        case .poster, .logo, .banner, .season: true
        case .backdrop, .still, .profile: false
        }
    }

    /// The kind with this name.
    /// - Throws: `RequestError.unknown` with the nearest name.
    public static func named(_ name: some StringProtocol) throws(RequestError) -> ImageKind {
        if let kind = ImageKind(rawValue: String(name)) { return kind }
        throw .unknown(unknownName(String(name), kind: "image kind", known: allCases.map(\.rawValue), listsAll: true))
    }
}
