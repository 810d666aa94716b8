import Logging
import OnesheetCore

extension Server {
    /// Reads the certificate and the configuration again, and answers by it from the next request on. What is wrong with it is logged, and everything
    /// stays as it is. To be called by one task at a time.
    package func reload(_ load: () throws -> ServerConfiguration) {
        let running = responder.context
        // One may be good when the other is not.
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
