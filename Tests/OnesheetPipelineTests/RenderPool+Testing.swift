import OnesheetCore
import OnesheetImaging

@testable import OnesheetPipeline

extension RenderPool {
    /// Runs a short job that needs no memory.
    func run<Value: Sendable>(
        _ job: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await run(cost: RenderCost(milliseconds: 10, bytes: 0), job)
    }
}
