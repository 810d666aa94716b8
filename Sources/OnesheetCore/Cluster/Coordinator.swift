/// Coordinates several servers: leases, a log that all read, counters. Valkey and Redis are such engines.
///
/// A coordinator holds nothing that cannot be made again. It may forget everything at any time (an empty restart), and two servers may
/// hold one lease after a failover. Its users stay correct then; they only do work twice. Every call ends, with a
/// `CoordinatorError.timedOut` if need be. A call that failed may still have had its effect: a lease may be held, a record appended.
///
/// Names are texts of any length, compared by their bytes. The names of leases, logs and counters are apart.
public protocol Coordinator: Sendable {
    /// Takes a lease that ends by itself. If `holder` has it already, it keeps its token and lasts `milliseconds` from now.
    /// - Parameters:
    ///   - name: the work that only one server should do: any text without control characters.
    ///   - holder: this server, and this piece of work: another call with the same holder is granted again.
    ///   - milliseconds: the time after which the lease ends unless it is renewed.
    func acquire(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> LeaseAnswer

    /// Prolongs a lease.
    /// - Returns: `false` if `holder` does not hold it any more.
    func renew(_ name: String, for holder: String, milliseconds: Int) async throws(CoordinatorError) -> Bool

    /// Ends a lease, if `holder` holds it.
    /// - Parameter milliseconds: how long the lease reports the work as done. This is recorded even if `holder` has lost the lease. With 0
    ///   or less nothing is recorded, and an earlier record stays.
    func release(_ name: String, for holder: String, doneFor milliseconds: Int) async throws(CoordinatorError)

    /// Appends a record to a log. The log keeps about the last 100,000 records.
    /// - Returns: the position of the record.
    func append(_ record: String, to log: String) async throws(CoordinatorError) -> LogPosition

    /// The records of a log behind a position. A log that does not exist yet begins with this call, and has an epoch.
    /// - Parameters:
    ///   - position: the last record that was read; `nil` asks for the log's end without records.
    ///   - epoch: the epoch of the position, from its page; `nil` if it is not known. If the log has another one by now, the answer
    ///     is an incomplete page without records, at once, and the log stays as it is.
    ///   - limit: the most records of the answer, at least 1.
    ///   - milliseconds: how long to wait for a record if there is none; 0 does not wait. A wait ends early if records were lost, and
    ///     with an error if the task is cancelled.
    func read(
        _ log: String, after position: LogPosition?, of epoch: String?, limit: Int, waiting milliseconds: Int
    ) async throws(CoordinatorError) -> LogPage

    /// Adds to a counter, if it stays within a limit. Adding 0 or less always succeeds, and a count never falls below 0.
    /// - Parameters:
    ///   - amount: a negative one gives back what was added before. Amounts and counts are at most 2⁵³.
    ///   - counter: the name; a counter that does not exist is 0.
    ///   - floor: a count below it counts as `floor`, for an engine that has lost counts that a server remembers.
    ///   - milliseconds: the lifetime of a counter that this call begins.
    /// - Returns: the new count, or `nil` if it would have passed the limit; then nothing is added.
    func add(
        _ amount: Int, to counter: String, floor: Int, limit: Int, milliseconds: Int
    ) async throws(CoordinatorError) -> Int?

    /// The present count; 0 if there is none.
    func count(of counter: String) async throws(CoordinatorError) -> Int

    /// Tries everything that the servers need, under names of its own.
    /// - Returns: facts that an operator should know, such as an eviction policy that forgets leases; empty if all is well.
    /// - Throws: if the engine cannot be used.
    func probe() async throws(CoordinatorError) -> [String]
}

extension Coordinator {
    /// Ends a lease whose work is not done, if `holder` holds it.
    public func release(_ name: String, for holder: String) async throws(CoordinatorError) {
        try await release(name, for: holder, doneFor: 0)
    }

    /// The records of a log behind a position whose epoch is not known.
    public func read(
        _ log: String, after position: LogPosition?, limit: Int, waiting milliseconds: Int
    ) async throws(CoordinatorError) -> LogPage {
        try await read(log, after: position, of: nil, limit: limit, waiting: milliseconds)
    }

    /// Adds to a counter of which nothing is known.
    public func add(
        _ amount: Int, to counter: String, limit: Int, milliseconds: Int
    ) async throws(CoordinatorError) -> Int? {
        try await add(amount, to: counter, floor: 0, limit: limit, milliseconds: milliseconds)
    }
}

/// The answer to a request for a lease.
public enum LeaseAnswer: Sendable, Equatable {
    /// The lease is granted. Tokens of one lease rise with each grant to another holder, unless the engine lost them. `isDone` tells
    /// that an earlier holder did the work a short time ago.
    case granted(token: Int, isDone: Bool = false)
    /// Another holder has the lease for at most `milliseconds`, unless it renews it.
    case held(milliseconds: Int)
}

/// A place in a log. Places of one epoch are ordered; a log that was lost begins a new epoch.
public struct LogPosition: Sendable, Hashable, Comparable {
    /// The engine's own order: milliseconds and a number within them (the id of a stream's entry).
    public var milliseconds: Int
    public var number: Int

    public init(milliseconds: Int, number: Int) {
        self.milliseconds = milliseconds
        self.number = number
    }

    /// The position before all records.
    public static let start = LogPosition(milliseconds: 0, number: 0)

    public static func < (left: Self, right: Self) -> Bool {
        (left.milliseconds, left.number) < (right.milliseconds, right.number)
    }
}

/// A part of a log.
public struct LogPage: Sendable, Equatable {
    /// A record of a log.
    public struct Record: Sendable, Equatable {
        /// The record's place in its log.
        public var position: LogPosition
        /// The text as it was appended.
        public var text: String

        public init(position: LogPosition, text: String) {
            self.position = position
            self.text = text
        }
    }

    /// The records, oldest first.
    public var records: [Record]
    /// The log's identity. It changes when the engine has lost the log.
    public var epoch: String
    /// The position of the newest record that the log ever had; `.start` if it had none.
    public var end: LogPosition
    /// Whether every record behind the asked position is still there. If not, the log was trimmed, or it does not have the asked
    /// position, because the engine has lost a part of it. `true` if no position was asked.
    public var isComplete: Bool

    public init(records: [Record], epoch: String, end: LogPosition, isComplete: Bool) {
        self.records = records
        self.epoch = epoch
        self.end = end
        self.isComplete = isComplete
    }
}

/// The reason for which a coordinator failed.
public enum CoordinatorError: Error, Sendable, Equatable {
    /// The engine did not answer before the deadline.
    case timedOut(operation: String)
    /// The engine cannot be reached.
    case unreachable(operation: String, reason: String)
    /// The engine refuses this server: password, rights.
    case refused(operation: String, reason: String)
    /// The engine answered with an error, or with something that is not an answer.
    case failed(operation: String, reason: String)
}

extension CoordinatorError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .timedOut(let operation): "the coordinator did not answer in time (\(operation))"
        case .unreachable(let operation, let reason): "the coordinator cannot be reached (\(operation)): \(reason)"
        case .refused(let operation, let reason): "the coordinator refuses to \(operation): \(reason)"
        case .failed(let operation, let reason): "the coordinator cannot \(operation): \(reason)"
        }
    }
}
