import OnesheetCore

/// A coordinator whose leases, logs and counters have names that begin with a prefix, so that several installations share an engine.
struct PrefixedCoordinator: Coordinator {
    private let coordinator: any Coordinator
    private let prefix: String

    /// - Parameter prefix: what all names begin with, before a slash; empty for nothing.
    init(_ coordinator: any Coordinator, prefix: String) {
        self.coordinator = coordinator
        self.prefix = prefix.isEmpty ? "" : "\(prefix)/"
    }

    func acquire(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> LeaseAnswer {
        try await coordinator.acquire(prefix + name, for: holder, milliseconds: milliseconds)
    }

    func renew(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> Bool {
        try await coordinator.renew(prefix + name, for: holder, milliseconds: milliseconds)
    }

    func release(_ name: String, for holder: String, doneFor milliseconds: Int) async throws(CoordinatorError) {
        try await coordinator.release(prefix + name, for: holder, doneFor: milliseconds)
    }

    func append(_ record: String, to log: String) async throws(CoordinatorError) -> LogPosition {
        try await coordinator.append(record, to: prefix + log)
    }

    func read(
        _ log: String, after position: LogPosition?, of epoch: String?, limit: Int, waiting milliseconds: Int
    ) async throws(CoordinatorError) -> LogPage {
        try await coordinator.read(prefix + log, after: position, of: epoch, limit: limit, waiting: milliseconds)
    }

    func add(
        _ amount: Int, to counter: String, floor: Int, limit: Int, milliseconds: Int
    ) async throws(CoordinatorError) -> Int? {
        try await coordinator.add(amount, to: prefix + counter, floor: floor, limit: limit, milliseconds: milliseconds)
    }

    func count(of counter: String) async throws(CoordinatorError) -> Int { try await coordinator.count(of: prefix + counter) }

    func probe() async throws(CoordinatorError) -> [String] { try await coordinator.probe() }
}
