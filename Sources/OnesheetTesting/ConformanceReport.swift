/// The outcome of one rule of a conformance suite.
public struct ConformanceFinding: Sendable, Equatable, CustomStringConvertible {
    /// The rule in words.
    public let rule: String
    /// The problem; `nil` if the rule is followed.
    public let problem: String?

    public var description: String { problem.map { "✗ \(rule): \($0)" } ?? "✓ \(rule)" }
}

/// The outcomes of all rules of a conformance suite.
public struct ConformanceReport: Sendable, CustomStringConvertible {
    /// The result of each rule, in order.
    public let findings: [ConformanceFinding]

    /// The rules that do not hold.
    public var failures: [ConformanceFinding] { findings.filter { $0.problem != nil } }
    public var description: String { findings.map(\.description).joined(separator: "\n") }
}

/// A violated rule.
struct ConformanceViolation: Error {
    let problem: String
    init(_ problem: String) { self.problem = problem }
}
