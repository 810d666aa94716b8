/// The rules that every content source has to follow.
///
/// The tests of a plugin run them with a transport that acts as the service, and expect `report.failures` to be empty. `onesheet
/// sources check` runs the same rules with the real service.
public struct SourceConformance: Sendable {
    /// Makes the source under test with the given transport. Called several times: a source keeps no state outside itself.
    public typealias Maker = @Sendable (any HTTPTransport) throws -> any ContentSource

    let make: Maker
    let transport: any HTTPTransport
    let knownID: String
    let unknownID: String?
    let list: TitleQuery?
    let exhausted: HTTPAnswer?
    let callsAtOnce: Int

    /// - Parameters:
    ///   - transport: a service without faults.
    ///   - knownID: a title that the service knows.
    ///   - unknownID: a title that it does not know; `nil` for a search, which knows every phrase.
    ///   - list: a query that the source answers; `nil` if it has no lists.
    ///   - exhausted: the answer of the service when the daily quota is exhausted; `nil` if it has no quota.
    ///   - callsAtOnce: the number of concurrent callers in the rule about concurrency.
    public init(
        transport: any HTTPTransport, knownID: String, unknownID: String?, list: TitleQuery?, exhausted: HTTPAnswer? = nil,
        callsAtOnce: Int = 32, make: @escaping Maker
    ) {
        self.transport = transport
        self.knownID = knownID
        self.unknownID = unknownID
        self.list = list
        self.exhausted = exhausted
        self.callsAtOnce = callsAtOnce
        self.make = make
    }

    /// Tries every rule.
    public func run() async -> Report {
        var findings: [Finding] = []
        for rule in rules { findings.append(await rule.tried()) }
        return Report(findings: findings)
    }

    private var rules: [Rule] {
        [
            Rule(
                "a title is the requested one, and the same each time",
                advice: "return the requested id, and give each original a stable name", check: stableIdentity),
            Rule(
                "an unknown id is not found",
                advice: "throw .notFound with the id; it is remembered, while other errors are retried",
                check: unknownIsNotFound),
            Rule(
                "any text is accepted as an id", advice: "escape the id in URLs, and reject impossible ids",
                check: strangeIDs),
            Rule(
                "pages follow each other without repeating", advice: "count pages from 1, and leave `next` out on the last one",
                check: paging),
            Rule(
                "answers have a usable length and usable numbers",
                advice: "throw .malformedAnswer for invalid numbers, and omit fields without a reader", check: bounds),
            Rule(
                "an answer that is not the service's is malformed", advice: "throw .malformedAnswer for an unreadable answer",
                check: { try await fault(.html) }),
            Rule(
                "an answer that is too large is an error", advice: "pass the transport's error to SourceError(_:)",
                check: { try await fault(.tooLarge) }),
            Rule(
                "a timeout is an error", advice: "pass the transport's error to SourceError(_:)",
                check: { try await fault(.timeOut) }),
            Rule(
                "an exhausted quota is reported, and no call is made before it resets",
                advice: "throw .quotaExhausted with the time of the reset; DailyQuota remembers it", check: quota),
            Rule("a cancelled call ends", advice: "throw immediately after the transport has thrown", check: cancellation),
            Rule(
                "concurrent calls get the same answer", advice: "protect shared state with a Mutex or an actor",
                check: concurrency),
        ]
    }

    func source() throws -> any ContentSource { try make(transport) }

    static func places(_ candidates: [PosterCandidate]) -> [String] { candidates.map(\.location.name) }
}

extension SourceConformance {
    /// The outcome of one rule.
    public struct Finding: Sendable, Equatable, Encodable, CustomStringConvertible {
        /// The rule in words.
        public let rule: String
        /// Whether the source follows the rule; `nil` if the rule could not be tried.
        public let holds: Bool?
        /// The problem, or why the rule could not be tried.
        public let problem: String?
        /// How to solve the problem.
        public let advice: String?

        public var description: String {
            switch holds {
            case true?: "✓ \(rule)"
            case false?: "✗ \(rule): \(problem ?? "")\n    → \(advice ?? "")"
            case nil: "– \(rule): not tried, \(problem ?? "")"
            }
        }
    }

    /// The outcomes of all rules.
    public struct Report: Sendable, CustomStringConvertible {
        /// The result of each rule, in order.
        public let findings: [Finding]

        /// The rules that do not hold.
        public var failures: [Finding] { findings.filter { $0.holds == false } }
        public var description: String { findings.map(\.description).joined(separator: "\n") }
    }

    /// A rule that applies to every source.
    struct Rule {
        let name: String
        let advice: String
        let check: () async throws -> Void

        init(_ name: String, advice: String, check: @escaping () async throws -> Void) {
            self.name = name
            self.advice = advice
            self.check = check
        }

        func tried() async -> Finding {
            do {
                try await check()
                return Finding(rule: name, holds: true, problem: nil, advice: nil)
            } catch let untried as NotTried {
                return Finding(rule: name, holds: nil, problem: untried.reason, advice: nil)
            } catch let violation as Violation {
                return Finding(rule: name, holds: false, problem: violation.problem, advice: advice)
            } catch {
                return Finding(rule: name, holds: false, problem: "unexpectedly failed: \(error)", advice: advice)
            }
        }
    }

    /// A violated rule.
    struct Violation: Error {
        let problem: String
        init(_ problem: String) { self.problem = problem }
    }

    /// A rule without anything to try it on.
    struct NotTried: Error {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }
}
