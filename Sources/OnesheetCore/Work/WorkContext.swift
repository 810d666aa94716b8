/// For whom a task works, and how: the clients that wait for it, whether somebody waits at all, and what it may still cause.
///
/// The server makes one for each request when that arrives, and work that several requests share gets the clients of all of them. It is the
/// one value that no function passes on, because the code of plugins is between those who know it and those who need it. Child tasks and
/// `Task {}` inherit it. `Task.detached` and threads of our own do not, so a function that hands work to a thread reads it first.
///
/// Without a request, everything is allowed.
package struct WorkContext: Sendable {
    @TaskLocal package static var current = WorkContext()

    /// The clients whose turns the work uses.
    package var clients = FlightClients()
    package var urgency = Urgency.interactive
    package var familiarity = Familiarity.known
    /// The identifier of the request, for the log and for problem documents.
    package var request: String?
    /// The call of a plugin that the work belongs to.
    package var call: SourceCall?
    /// Counts a miss of the client, just before the work begins: a question to a source or an origin, or a render. Answers from a tier are
    /// none. Throws `Failure.tooManyRequests` or `.overloaded` if the client may cause no further work at present.
    package var countMiss: @Sendable () throws(Failure) -> Void = { () throws(Failure) in }

    package init() {}

    /// Runs `body` in the current context with a change.
    package static func with<Value, E: Error>(
        _ change: (inout WorkContext) -> Void, do body: () throws(E) -> Value
    ) throws(E) -> Value {
        var context = current
        change(&context)
        return try $current.withValue(context) { () -> Result<Value, E> in
            do throws(E) { return .success(try body()) } catch { return .failure(error) }
        }
        .get()
    }

    /// Runs `body` in the current context with a change.
    package static func with<Value, E: Error>(
        _ change: (inout WorkContext) -> Void, isolation: isolated (any Actor)? = #isolation,
        do body: () async throws(E) -> Value
    ) async throws(E) -> Value {
        var context = current
        change(&context)
        return try await $current.withValue(
            context,
            operation: { () async -> Result<Value, E> in
                do throws(E) { return .success(try await body()) } catch { return .failure(error) }
            },
            isolation: isolation
        )
        .get()
    }
}
