/// The keys of `tls`: files in PEM, the certificate first with those that vouch for it behind.
package struct TLSFiles: Sendable, Decodable, Equatable {
    package var certificate: String
    package var key: String
}

extension ServerConfiguration {
    /// The files beside the configuration's own whose change matters to a running server.
    var files: [String] { tls.map { [$0.certificate, $0.key] } ?? [] }
}
