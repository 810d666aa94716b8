/// Runs `work`, and `end` even if it fails.
/// - Throws: what `work` throws, or else what `end` throws.
func finally<Outcome>(
    _ end: () async throws -> Void, _ work: () async throws -> Outcome
) async throws -> Outcome {
    let outcome: Outcome
    do {
        outcome = try await work()
    } catch {
        do { try await end() } catch { /* The first error says what went wrong. */  }
        throw error
    }
    try await end()
    return outcome
}
