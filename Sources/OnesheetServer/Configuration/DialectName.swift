import OnesheetAddress
import OnesheetCore

/// The address grammar of another image server, which the configuration may switch on beside this one's own.
package enum DialectName: String, Sendable, SettingWord {
    package static let noun = "dialect"
    case thumbor, cloudflare, iiif, next

    func route(_ installation: Installation) -> any ImageDialect {
        switch self {
        case .thumbor: ThumborRoute(installation: installation)
        case .cloudflare: CloudflareRoute(installation: installation)
        case .iiif: IIIFRoute(installation: installation)
        case .next: NextRoute(installation: installation)
        }
    }
}
