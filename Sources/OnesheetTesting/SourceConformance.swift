public import OnesheetCore

/// What every content source has to do, whatever it speaks to. A plugin's tests run it; `report.failures` has to be empty.
public struct SourceConformance: Sendable {
    /// Makes the source under test over the given transport. Called several times: a source keeps nothing outside itself.
    public typealias Maker = @Sendable (any HTTPTransport) throws -> any ContentSource

    let make: Maker
    let transport: any HTTPTransport
    let knownID: String
    let unknownID: String?
    let list: TitleQuery?

    /// - Parameters:
    ///   - transport: plays the service as it is when all is well.
    ///   - knownID: a title that the service knows.
    ///   - unknownID: one that it does not know; `nil` for a search, which knows every phrase.
    ///   - list: a query that the source answers; `nil` where it has no lists.
    public init(
        transport: any HTTPTransport, knownID: String, unknownID: String?, list: TitleQuery?, make: @escaping Maker
    ) {
        self.transport = transport
        self.knownID = knownID
        self.unknownID = unknownID
        self.list = list
        self.make = make
    }

    /// What one rule found.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
        public let rule: String
        /// What is wrong and what to do; `nil` where the rule holds.
        public let problem: String?

        public var description: String { problem.map { "✗ \(rule): \($0)" } ?? "✓ \(rule)" }
    }

    /// What all rules found.
    public struct Report: Sendable, CustomStringConvertible {
        public let findings: [Finding]

        public var failures: [Finding] { findings.filter { $0.problem != nil } }
        public var description: String { findings.map(\.description).joined(separator: "\n") }
    }

    /// A rule that does not hold.
    struct Violation: Error {
        let problem: String
        init(_ problem: String) { self.problem = problem }
    }

    /// Tries every rule.
    public func run() async -> Report {
        var findings: [Finding] = []
        let rules: [(String, () async throws -> Void)] = [
            ("a title is the one that was asked for, each time the same", stableIdentity),
            ("an unknown id is not found", unknownIsNotFound),
            ("any text is taken as an id", strangeIDs),
            ("pages follow each other without repeating", paging),
            ("an answer that is not the service's is malformed", { try await fault(.html) }),
            ("an answer that is too large is an error", { try await fault(.tooLarge) }),
            ("no answer in time is an error", { try await fault(.timeOut) }),
            ("a cancelled call ends", cancellation),
            ("calls at the same time get the same answer", concurrency),
        ]
        for (rule, check) in rules {
            do {
                try await check()
                findings.append(Finding(rule: rule, problem: nil))
            } catch let violation as Violation {
                findings.append(Finding(rule: rule, problem: violation.problem))
            } catch {
                findings.append(Finding(rule: rule, problem: "unexpectedly failed: \(error)"))
            }
        }
        return Report(findings: findings)
    }

    func source() throws -> any ContentSource { try make(transport) }

    static func places(_ candidates: [PosterCandidate]) -> [String] { candidates.map(\.location.name) }
}
