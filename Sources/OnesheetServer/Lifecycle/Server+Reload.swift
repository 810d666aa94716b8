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
            running.logger.error("the new certificate cannot be used, the old one stays in use: \(error)")
        }
        do {
            let (configuration, fixed) = try load().taking(fixedPartsOf: running.configuration)
            if case .record = configuration.recordReplay {
                throw ConfigurationError(
                    path: "", message: "a recording server cannot reload, because it would record new secrets; restart it")
            }
            try configuration.requireProtection()
            responder.reload(try running.rebuilt(configuration))
            fastPath?.refresh()
            running.logger.notice("the configuration was reloaded")
            if !fixed.isEmpty {
                running.logger.warning("changes of \(fixed.joined(separator: ", ")) take effect after a restart")
            }
        } catch {
            running.logger.error("the new configuration cannot be used, the old one stays in use: \(error)")
        }
    }
}
