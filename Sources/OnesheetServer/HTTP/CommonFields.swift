import HTTPTypes

/// The header fields that depend on the configuration alone, for every response.
struct CommonFields {
    let cors: CORS
    /// The value of `Server`; `nil` sends none.
    let server: String?
    /// The value of `Strict-Transport-Security`; `nil` sends none.
    let strictTransportSecurity: String?

    /// - Parameter origin: the request's `Origin`.
    func apply(to fields: inout HTTPFields, origin: String?) {
        cors.apply(to: &fields, origin: origin)
        fields[.server] = server
        fields[.strictTransportSecurity] = strictTransportSecurity
    }
}
