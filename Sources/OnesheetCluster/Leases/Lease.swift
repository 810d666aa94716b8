package import OnesheetCore

/// A lease for one piece of work.
package struct Lease: Sendable {
    package let name: String
    /// The server and its piece of work.
    package let holder: String
    private let coordinator: any Coordinator
    private let lifetime: Int

    /// - Parameter lifetime: the milliseconds after which the lease ends unless it is renewed.
    package init(name: String, holder: String, coordinator: any Coordinator, lifetime: Int) {
        self.name = name
        self.holder = holder
        self.coordinator = coordinator
        self.lifetime = lifetime
    }

    package func acquire() async throws(CoordinatorError) -> LeaseAnswer {
        try await coordinator.acquire(name, for: holder, milliseconds: lifetime)
    }

    /// - Parameter milliseconds: how long the lease reports the work as done; 0 if it is not.
    package func release(doneFor milliseconds: Int = 0) async throws(CoordinatorError) {
        try await coordinator.release(name, for: holder, doneFor: milliseconds)
    }

    /// Renews the lease at a third of its lifetime, until the task is cancelled or the lease is lost. A failed renewal is tried again.
    package func renewal() -> Task<Void, Never> {
        Task {
            while await sleepUnlessCancelled(for: .milliseconds(max(lifetime / 3, 1))) {
                do throws(CoordinatorError) {
                    guard try await coordinator.renew(name, for: holder, milliseconds: lifetime) else { return }
                } catch {
                    continue
                }
            }
        }
    }
}
