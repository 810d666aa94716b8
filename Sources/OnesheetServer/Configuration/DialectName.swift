import OnesheetAddress
import OnesheetCore

/// The address grammar of another image server, which the configuration may switch on beside this one's own.
package enum DialectName: String, Sendable, CaseIterable, Decodable {
    case thumbor, cloudflare, iiif, next

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let name = Self(rawValue: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: unknownName(text, kind: "dialect", known: Self.allCases.map(\.rawValue)))
        }
        self = name
    }

    func route(_ installation: Installation) -> any ImageDialect {
        switch self {
        case .thumbor: ThumborRoute(installation: installation)
        case .cloudflare: CloudflareRoute(installation: installation)
        case .iiif: IIIFRoute(installation: installation)
        case .next: NextRoute(installation: installation)
        }
    }
}
