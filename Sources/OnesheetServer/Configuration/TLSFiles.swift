/// The keys of `tls`: files in PEM, the certificate first with those that vouch for it behind.
package struct TLSFiles: Sendable, ConfigurationSection, Equatable {
    package var certificate = ""
    package var key = ""

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "certificate", \.certificate, isNeeded: true,
                meaning: "a PEM file; with it HTTPS and HTTP/2 are spoken. A changed certificate is read again without a restart"),
            Setting("key", \.key, isNeeded: true, meaning: "a PEM file with its private key"),
        ]
    }
}

extension ServerConfiguration {
    /// The files beside the configuration's own whose change matters to a running server.
    package var files: [String] { tls.map { [$0.certificate, $0.key] } ?? [] }
}
