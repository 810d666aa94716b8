package import Logging
package import OnesheetCache
package import OnesheetCore

/// The cluster of a server with a store, a coordinator, or both. Its calls end in time, whatever the backends do.
package struct ServerCluster: Cluster {
    /// The tier of all servers; `nil` without a store.
    package let shared: SharedTier?
    /// The purges of all servers; `nil` without a coordinator.
    package let purges: PurgeLog?
    /// Lets the servers fetch an original once; `nil` without a coordinator.
    package private(set) var leases: FlightLeases?
    /// The coordinator, whose names begin with the prefix; `nil` if there is none.
    package private(set) var coordinator: (any Coordinator)?
    private var store: (any ObjectStorePlugin)?
    private var engine: (any CoordinatorPlugin)?

    /// A cluster of backends that others close.
    init(shared: SharedTier?, purges: PurgeLog?) {
        self.shared = shared
        self.purges = purges
    }

    /// - Parameter state: values of this server that survive a restart, for its purges.
    /// - Returns: `nil` if there is neither a store nor a coordinator.
    package init?(
        store: (any ObjectStorePlugin)?, coordinator engine: (any CoordinatorPlugin)?, _ settings: SharedSettings,
        state: any KeyValueState, clock: WallClock, logger: Logger
    ) {
        if store == nil, engine == nil { return nil }
        let coordinator = engine.map { BoundedCoordinator($0, prefix: settings.prefix) }
        let purges = coordinator.map { PurgeLog($0, state: state, logger: logger) }
        self.init(shared: store.map { SharedTier($0, settings, purges: purges, clock: clock) }, purges: purges)
        if let coordinator, let purges { leases = FlightLeases(coordinator, holder: purges.process, logger: logger) }
        self.coordinator = coordinator
        self.store = store
        self.engine = engine
    }

    /// The counters of the plugin with this name; `nil` without a coordinator.
    package func counters(_ name: String) -> SharedCounters? {
        coordinator.map { SharedCounters($0, prefix: "\(name)/") }
    }

    /// Writes queued entries, and closes the backends.
    package func shutdown() async {
        await shared?.close()
        await store?.shutdown()
        await engine?.shutdown()
    }

    // MARK: Cluster

    package var tier: (any CacheTier)? { shared }

    package var tellsOfPurges: Bool { purges != nil }

    package func announcing(_ selections: [CacheSelection], _ purge: () async -> Bool) async -> Bool {
        guard let purges else {
            _ = await purge()
            return false
        }
        return await purges.announcing(selections, purge)
    }

    package func dropQueued() async throws(CacheError) { try await shared?.dropQueued() }

    package func turn(at key: CacheKey) async throws(CancellationError) -> ClusterTurn? {
        // Without a store, the others could not find the result.
        guard let shared, let leases else { return nil }
        let turn = try await leases.turn(key.description) { await shared.settle(key) }
        if turn?.mayBeDone ?? false { shared.forgetAbsence(of: key) }
        return turn
    }
}

/// Trials of the backends.
extension ServerCluster {
    /// The finding of a trial of a backend.
    package struct Finding: Sendable, Equatable {
        /// The key of the configuration: `shared.store`.
        package let backend: String
        /// Why the backend cannot be used; `nil` if it can.
        package let error: String?
        /// Facts that an operator should know.
        package let warnings: [String]
    }

    /// Tries every backend, which writes to the store.
    package func findings() async -> [Finding] {
        var findings: [Finding] = []
        if let shared {
            do throws(StoreError) {
                let abilities = try await shared.probe()
                findings.append(
                    Finding(
                        backend: "shared.store", error: nil,
                        warnings: abilities.hasConditions
                            ? []
                            : [
                                "the store ignores conditions of writes, so of two servers that write one entry the last one wins, and "
                                    + "decisions about posters (pins, rejections, blocked images) stay on the server that takes them"
                            ]))
            } catch {
                findings.append(Finding(backend: "shared.store", error: "\(error)", warnings: []))
            }
        }
        if let engine {
            do throws(CoordinatorError) {
                findings.append(Finding(backend: "shared.coordinator", error: nil, warnings: try await engine.probe()))
            } catch {
                findings.append(Finding(backend: "shared.coordinator", error: "\(error)", warnings: []))
            }
        }
        return findings
    }
}
