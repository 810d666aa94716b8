package import Logging
package import OnesheetCore

/// The keys of `tls`: PEM files, and the time that browsers remember. The certificate file begins with the server's certificate, followed by its
/// chain.
package struct TLSFiles: Sendable, ConfigurationSection, Equatable {
    package var certificate = ""
    package var key = ""
    /// How long browsers must use HTTPS only (RFC 6797); `nil` sends no such field.
    package var hsts: Interval?

    package init() {}

    /// The value of `Strict-Transport-Security`.
    var strictTransportSecurity: String? { hsts.map { "max-age=\(Int($0.seconds))" } }

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "certificate", \.certificate, isRequired: true,
                meaning:
                    "PEM file with the certificate chain; enables HTTPS and HTTP/2. A changed certificate is reloaded without a restart"
            ),
            Setting("key", \.key, isRequired: true, meaning: "PEM file with the certificate's private key"),
            Setting(
                "hsts", \.hsts, defaultText: "none: not sent",
                meaning:
                    "time for which browsers use only HTTPS for this host (`Strict-Transport-Security`), such as `365d`; `0s` ends it"
            ),
        ]
    }
}

/// The keys of `admin`: administration over HTTP.
package struct AdminConfiguration: Sendable, ConfigurationSection {
    package var token: String?

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "token", \.token, as: Secret.self, defaultText: "none: no administration over HTTP",
                meaning:
                    "the bearer token for administration, at least 16 bytes that cannot be guessed; `openssl rand -hex 32` makes one"
            )
        ]
    }

    /// The least length of a token, and the least numbers of different bytes and of different steps from one byte to the next.
    private static let fewest = (bytes: 16, different: 5, steps: 4)

    /// An empty token is that of a variable without a value: no administration.
    package func check() throws(ConfigurationError) {
        guard let token, !token.isEmpty else { return }
        let bytes = Array(token.utf8)
        guard bytes.count >= Self.fewest.bytes else {
            throw Self.weak("has \(bytes.count) bytes and can be guessed; it needs at least \(Self.fewest.bytes)")
        }
        guard Set(bytes).count >= Self.fewest.different, !bytes.repeats(within: Self.fewest.bytes - 1) else {
            throw Self.weak("repeats itself and can be guessed")
        }
        guard Set(zip(bytes, bytes.dropFirst()).map { $1 &- $0 }).count >= Self.fewest.steps else {
            throw Self.weak("is a sequence and can be guessed")
        }
    }

    static func weak(_ reason: String) -> ConfigurationError {
        ConfigurationError(path: "admin.token", message: "\(reason). Make one with `openssl rand -hex 32`")
    }
}

extension [UInt8] {
    /// Whether the bytes are a shorter text, of at most `limit` bytes, twice or more.
    fileprivate func repeats(within limit: Int) -> Bool {
        (1...limit).contains { period in 2 * period <= count && zip(self, dropFirst(period)).allSatisfy(==) }
    }
}

/// A text that is never printed.
private struct Secret: WrittenSetting {
    static let kind = "text"

    let stored: String

    init(_ text: String) { stored = text }
    init(from decoder: any Decoder) throws { stored = try String(from: decoder) }

    func printed(_ written: PrintedValue?) -> PrintedValue { .secret(written) }
}

/// The keys of `public`: what everyone gets beside images.
package struct PublicConfiguration: Sendable, ConfigurationSection {
    /// Whether there is a console.
    package var console = true
    /// Whether everyone may ask for lists, searches, titles and candidates.
    package var lists = true

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting("console", \.console, meaning: "serve the console at `/`; `false`: 404"),
            Setting(
                "lists", \.lists,
                meaning:
                    "answer lists, searches, titles, candidates, `/explain?…&fetch` and questions to TMDB, which cost calls to services, for everyone; `false`: only with the administrator's token"
            ),
        ]
    }
}

/// The keys of `cors`: the origins whose pages may read responses, and which pages may embed images (the Fetch standard).
package struct CORSConfiguration: Sendable, ConfigurationSection {
    /// Which pages may embed images (the Fetch standard's `Cross-Origin-Resource-Policy`).
    package enum ResourcePolicy: String, Sendable, SettingWord {
        package static let noun = "policy"
        case crossOrigin = "cross-origin"
        case sameSite = "same-site"
        case sameOrigin = "same-origin"
        case none

        /// The value of the field; `nil` sends none.
        var field: String? { self == .none ? nil : rawValue }
    }

    package var origins: [String] = []
    package var resourcePolicy = ResourcePolicy.crossOrigin

    package init() {}

    package init(origins: [String]) { self.origins = origins }

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "origins", \.origins,
                meaning: "origins whose pages may read responses, such as `https://app.example.com`; `*` allows all"),
            Setting(
                "resourcePolicy", \.resourcePolicy,
                meaning: "pages that may embed images (`Cross-Origin-Resource-Policy`); `none` leaves it to browsers"),
        ]
    }

    package func check() throws(ConfigurationError) {
        if let bad = origins.first(where: { !Self.isOrigin($0) }) {
            throw ConfigurationError(
                path: "cors.origins",
                message: "“\(bad)” is not an origin as browsers send it, such as https://app.example.com or http://localhost:3000")
        }
    }

    /// Whether `text` is `*`, or a lower-case scheme, a host and an optional port with nothing after them.
    private static func isOrigin(_ text: String) -> Bool {
        if text == "*" { return true }
        return text.wholeMatch(of: /https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:[0-9]{1,5})?/) != nil
    }
}

/// The keys of `shutdown`: graceful shutdown.
package struct ShutdownConfiguration: Sendable, ConfigurationSection, Equatable {
    package var delay = Interval(.zero)
    package var deadline = Interval(.seconds(30))

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "delay", \.delay, meaning: "time after SIGTERM in which `/ready` answers 503 and other requests are still answered"),
            Setting("deadline", \.deadline, meaning: "time for requests in progress to end after that"),
        ]
    }
}

/// The keys of `log`.
package struct LogConfiguration: Sendable, ConfigurationSection, Equatable {
    package enum Format: String, Sendable, SettingWord {
        package static let noun = "format"
        case text, json
    }

    package var format = Format.text
    /// If `nil`, `LOG_LEVEL` from the environment, or else `notice`.
    package var level: Logger.Level?

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting("format", \.format, meaning: "log lines for people or for machines"),
            Setting(
                "level", \.level, as: LogLevel.self, defaultText: "`LOG_LEVEL`, or `notice`",
                meaning: "minimum level of logged messages"),
        ]
    }
}

/// The written form of a log level.
private enum LogLevel: String, WrittenSetting, SettingWord {
    static let noun = "level"
    case trace, debug, info, notice, warning, error, critical

    init(_ stored: Logger.Level) { self = LogLevel(rawValue: stored.rawValue) ?? .notice }

    var stored: Logger.Level { Logger.Level(rawValue: rawValue) ?? .notice }
}
