import OnesheetAddress
import OnesheetCore

/// The address grammar of another image server, which the configuration may switch on beside this one's own.
package enum DialectName: String, Sendable, SettingWord {
    package static let noun = "dialect"
    case thumbor, cloudflare, iiif, next

    func route(_ installation: Installation, _ images: ImageContext) -> any ImageRoute {
        switch self {
        case .thumbor: ThumborRoute(images: images)
        case .cloudflare: CloudflareRoute(images: images)
        case .iiif: IIIFRoute(images: images, installation: installation)
        case .next: NextRoute(images: images)
        }
    }
}
