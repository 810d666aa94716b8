/// The keys of `tls`: PEM files. The certificate file begins with the server's certificate, followed by its chain.
package struct TLSFiles: Sendable, ConfigurationSection, Equatable {
    package var certificate = ""
    package var key = ""

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "certificate", \.certificate, isRequired: true,
                meaning:
                    "PEM file with the certificate chain; enables HTTPS and HTTP/2. A changed certificate is reloaded without a restart"
            ),
            Setting("key", \.key, isRequired: true, meaning: "PEM file with the certificate's private key"),
        ]
    }
}

extension ServerConfiguration {
    /// Files, beside the configuration file, that the server watches for changes.
    package var files: [String] { tls.map { [$0.certificate, $0.key] } ?? [] }
}
