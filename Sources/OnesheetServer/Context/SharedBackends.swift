import Logging
package import OnesheetCache
package import OnesheetCore

/// The backends that several servers share: a store with the shared tier on it, and a coordinator.
package struct SharedBackends: Sendable {
    /// The finding of a trial of a backend.
    package struct Finding: Sendable, Equatable {
        /// The key of the configuration: `shared.store`.
        package let backend: String
        /// Why the backend cannot be used; `nil` if it can.
        package let error: String?
        /// Facts that an operator should know.
        package let warnings: [String]
    }

    package let tier: SharedTier?
    package let coordinator: (any CoordinatorPlugin)?
    private let store: (any ObjectStorePlugin)?
    private let isRequired: Bool

    /// No backends.
    init() {
        tier = nil
        coordinator = nil
        store = nil
        isRequired = false
    }

    /// - Parameter history: makes the history of purges by the other servers from the coordinator.
    package init(
        _ configuration: SharedConfiguration, _ assembly: PluginAssembly,
        history: ((any CoordinatorPlugin)?) -> any PurgeHistory = { _ in NoPurgeHistory() }
    ) throws(ConfigurationError) {
        store = try assembly.store(configuration.store)
        coordinator = try assembly.coordinator(configuration.coordinator)
        isRequired = configuration.required
        var settings = SharedSettings(prefix: configuration.prefix)
        settings.expires = .seconds(configuration.expires.seconds)
        // An object is in memory before it is counted.
        settings.readsUnderWay = settings.readsUnderWay(within: assembly.limits.memory)
        let history = history(coordinator)
        tier = store.map { SharedTier($0, settings, history: history, clock: assembly.clock) }
    }

    /// Tries every backend, which writes to the store.
    package func findings() async -> [Finding] {
        var findings: [Finding] = []
        if let tier {
            do throws(StoreError) {
                let abilities = try await tier.probe()
                findings.append(
                    Finding(
                        backend: "shared.store", error: nil,
                        warnings: abilities.hasConditions
                            ? []
                            : [
                                "the store ignores conditions of writes, so of two servers that write one entry the last one wins, and "
                                    + "decisions about posters (pins, rejections, blocked pictures) stay on the server that takes them"
                            ]))
            } catch {
                findings.append(Finding(backend: "shared.store", error: "\(error)", warnings: []))
            }
        }
        if let coordinator {
            do throws(CoordinatorError) {
                findings.append(Finding(backend: "shared.coordinator", error: nil, warnings: try await coordinator.probe()))
            } catch {
                findings.append(Finding(backend: "shared.coordinator", error: "\(error)", warnings: []))
            }
        }
        return findings
    }

    /// - Throws: `ConfigurationError` with the first backend that cannot be used, if the configuration requires the backends.
    func requireIfConfigured() async throws(ConfigurationError) {
        guard isRequired else { return }
        for finding in await findings() {
            if let error = finding.error { throw ConfigurationError(path: finding.backend, message: error) }
        }
    }

    /// Tries the backends and logs the findings. The server serves meanwhile.
    func logProblems(_ logger: Logger) async {
        for finding in await findings() {
            if let error = finding.error {
                logger.warning("\(finding.backend) cannot be used now, the server works without it until it can: \(error)")
            }
            for warning in finding.warnings { logger.warning("\(finding.backend): \(warning)") }
        }
    }

    /// Writes queued entries, and closes the backends.
    package func shutdown() async {
        await tier?.close()
        await store?.shutdown()
        await coordinator?.shutdown()
    }
}
