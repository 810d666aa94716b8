import Foundation

/// A table in Markdown.
struct Table {
    private let title: String
    private let columns: [String]

    init(_ title: String, _ columns: [String]) {
        (self.title, self.columns) = (title, columns)
        print("\n### \(title)\n")
        print("| " + columns.joined(separator: " | ") + " |")
        print("|" + columns.map { _ in "---|" }.joined())
    }

    func row(_ cells: String...) { print("| " + cells.joined(separator: " | ") + " |") }
}

extension Double {
    /// With so many digits after the point.
    func text(_ digits: Int = 1) -> String { String(format: "%.\(digits)f", self) }
}

/// How long `body` takes, in seconds.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
}

/// How long `body` takes, in seconds.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .seconds(1)
}

/// Ends the program where a measurement did not measure what it should.
func expect(_ isRight: Bool) { precondition(isRight, "the cache did not answer as the measurement needs it") }
