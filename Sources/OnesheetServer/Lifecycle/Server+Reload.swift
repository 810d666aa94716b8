import Logging
import OnesheetCore

extension Server {
    /// Reloads the certificate and the configuration. They take effect with the next request. Errors are logged, and the old values
    /// stay in use. Must not be called concurrently.
    package func reload(_ load: () throws -> ServerConfiguration) {
        let running = responder.context
        // Reload each independently: one may be valid when the other is not.
        do {
            try certificate?.reload()
        } catch {
            running.logger.error("the new certificate is not used and the old one stays: \(error)")
        }
        do {
            let (configuration, fixed) = try load().taking(fixedPartsOf: running.configuration)
            if case .record = configuration.recordReplay {
                throw ConfigurationError(path: "", message: "a server that records would record new secrets; start it again")
            }
            try configuration.requireProtection()
            responder.exchange(try running.rebuilt(configuration))
            fastPath?.refresh()
            running.logger.notice("the configuration was read again")
            if !fixed.isEmpty {
                running.logger.warning("what changed in \(fixed.joined(separator: ", ")) holds when the server is started again")
            }
        } catch {
            running.logger.error("the new configuration is not used and the old one stays: \(error)")
        }
    }
}
