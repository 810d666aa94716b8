internal import FoundationEssentials
public import OnesheetCore

/// The rules that every coordinator has to follow. The tests of a coordinator run them; `report.failures` has to be empty.
///
/// All names are new in each run, so the engine need not be empty.
public struct CoordinatorConformance: Sendable {
    /// The coordinators of two servers with one engine.
    let first: any Coordinator
    let second: any Coordinator
    let engine: Engine
    /// The time for one rule.
    package var limit = Duration.seconds(60)
    /// Whether the engine's clock passes by itself. Rules that let two seconds pass then run beside the others. With a clock that one of
    /// them advances, they would end what another one holds.
    package var isClockReal = false
    /// Is part of every name.
    private let run = UUID().uuidString

    /// The operations of a test on an engine.
    public struct Engine: Sendable {
        /// Advances the engine's clock, or waits, by at least this many milliseconds.
        public var pass: @Sendable (_ milliseconds: Int) async throws -> Void
        /// Keeps the last records of a log; `nil` if the test cannot do that.
        public var trim: (@Sendable (_ log: String, _ count: Int) async throws -> Void)?
        /// Makes the engine lose everything; `nil` if the test cannot do that.
        public var forget: (@Sendable () async throws -> Void)?

        public init(
            pass: @escaping @Sendable (_ milliseconds: Int) async throws -> Void,
            trim: (@Sendable (_ log: String, _ count: Int) async throws -> Void)? = nil,
            forget: (@Sendable () async throws -> Void)? = nil
        ) {
            self.pass = pass
            self.trim = trim
            self.forget = forget
        }
    }

    /// - Parameters:
    ///   - first: the coordinator of one server.
    ///   - second: the coordinator of another server with the same engine; may be the same object.
    public init(_ first: any Coordinator, _ second: any Coordinator, engine: Engine) {
        self.first = first
        self.second = second
        self.engine = engine
    }

    public typealias Finding = ConformanceFinding
    public typealias Report = ConformanceReport
    typealias Violation = ConformanceViolation
    private typealias Rule = (name: String, check: @Sendable () async throws -> Void)

    /// Tries every rule. A rule that does not end within a minute is violated.
    public func run() async -> Report {
        let patient: [Rule] = [
            ("the holder of a lease is granted it again, with its token", grantedAgain),
            ("a renewed lease lasts", renewal),
            ("a lease tells for a while that its work is done", workDone),
            ("a counter ends at the time that its first call set", counterEnds),
        ]
        var rules: [Rule] = [
            ("the probe finds nothing that stops a server", { _ = try await first.probe() }),
            ("a lease has one holder", oneHolder),
            ("tokens rise from holder to holder", tokensRise),
            ("a lease ends by itself", leaseEnds),
            ("only the holder renews", renewalByOthers),
            ("only the holder releases", release),
            ("of many at once, one gets the lease", manyAtOnce),
            ("any text is a name, and no two are mixed up", strangeNames),
            ("leases, logs and counters of one name are apart", kindsAreApart),
            ("a new log has an epoch and no records", newLog),
            ("records are read in their order, page by page", paging),
            ("the end of a log is told without records", endOfLog),
            ("any text is a record", strangeRecords),
            ("records of several servers are one log", oneLog),
            ("who waits for a record gets it", waiting),
            ("a wait for a record ends by itself", waitingInVain),
            ("a wait for a record ends with its task", cancelledWait),
            ("a position that the log does not have is told", unknownPosition),
            ("a counter adds up to its limit", counting),
            ("a count below its floor is brought up to it, once", countingFromAFloor),
            ("what is given back can be added again", givingBack),
            ("many at once never pass the limit", countingAtOnce),
        ]
        if engine.trim != nil { rules.append(("trimmed records are told", trimming)) }
        var findings: [Finding]
        if isClockReal {
            async let beside = together(patient)
            findings = await inTurn(rules) + beside
        } else {
            findings = await inTurn(rules + patient)
        }
        // Last: nothing else lasts beyond it.
        if engine.forget != nil {
            findings += await inTurn([("an engine that forgot everything begins anew", forgetting)])
        }
        return Report(findings: findings)
    }

    private func inTurn(_ rules: [Rule]) async -> [Finding] {
        var findings: [Finding] = []
        for rule in rules { findings.append(Finding(rule: rule.name, problem: await problem(of: rule))) }
        return findings
    }

    private func together(_ rules: [Rule]) async -> [Finding] {
        await withTaskGroup(of: Finding.self) { group in
            for rule in rules { group.addTask { Finding(rule: rule.name, problem: await problem(of: rule)) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func problem(of rule: Rule) async -> String? {
        let (problems, result) = AsyncStream<String?>.makeStream()
        let job = Task {
            do {
                try await rule.check()
                result.yield(nil)
            } catch let violation as Violation {
                result.yield(violation.problem)
            } catch {
                result.yield("unexpectedly failed: \(error)")
            }
        }
        let timer = Task {
            // An engine that hangs does not follow an injected clock.
            try await Task.sleep(for: limit)
            result.yield("did not end within \(limit)")
        }
        defer {
            job.cancel()
            timer.cancel()
        }
        return await problems.first { _ in true } ?? "ended without a result"
    }

    /// A name that no other run has.
    func name(_ text: String) -> String { "\(text) \(run)" }

    func expect(_ condition: Bool, _ problem: @autoclosure () -> String) throws {
        if !condition { throw Violation(problem()) }
    }

    /// Takes a lease.
    /// - Returns: its token.
    @discardableResult
    func granted(_ name: String, to holder: String, by coordinator: any Coordinator, for milliseconds: Int) async throws -> Int {
        let answer = try await coordinator.acquire(name, for: holder, milliseconds: milliseconds)
        guard case .granted(let token, _) = answer else { throw Violation("\(holder) did not get the lease: \(answer)") }
        return token
    }

    func expectHeld(_ name: String, not holder: String, by coordinator: any Coordinator, within milliseconds: Int) async throws {
        let answer = try await coordinator.acquire(name, for: holder, milliseconds: 60_000)
        guard case .held(let rest) = answer, (1...milliseconds).contains(rest) else {
            throw Violation("\(holder) asked for a lease that another has for up to \(milliseconds) ms more: \(answer)")
        }
    }
}
