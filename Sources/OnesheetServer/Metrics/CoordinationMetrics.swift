import OnesheetCluster

/// The metrics of work that several servers do together.
struct CoordinationMetrics {
    let purges: PurgeLog.Metrics
    let leases: FlightLeases.Counts

    func write(to text: inout MetricList) {
        text.add(
            .gauge, "purge_lag_seconds",
            help: "Time since the purges by other servers were last all known; about 1 if all is well.",
            value: purges.lag / .seconds(1))
        text.add(.counter, "purges_received_total", help: "Purges by other servers done here.", value: purges.received)
        text.add(
            .gauge, "purge_outbox", help: "Tags of purges that the other servers do not know yet; 1 for a purge of everything.",
            value: purges.outbox)
        text.add(.counter, "lease_taken_total", help: "Fetches of originals with the lease for them.", value: leases.taken)
        text.add(.counter, "lease_waited_total", help: "Fetches of originals that waited for another server.", value: leases.waited)
        text.add(
            .counter, "lease_alone_total", help: "Fetches of originals without a lease, because none could be had in time.",
            value: leases.alone)
    }
}
