extension SourceConformance {
    /// The outcome of one rule.
    public struct Finding: Sendable, Equatable, Encodable, CustomStringConvertible {
        public let rule: String
        /// Whether the source follows the rule; `nil` if the rule could not be tried.
        public let holds: Bool?
        /// The problem, or the reason for which the rule could not be tried.
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
        public let findings: [Finding]

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
