import Foundation

/// A Markdown table that is printed row by row.
struct Table {
    private let title: String
    private let columns: [String]

    init(_ title: String, _ columns: [String]) {
        self.title = title
        self.columns = columns
        line("\n### \(title)\n")
        line("| " + columns.joined(separator: " | ") + " |")
        line("|" + columns.map { _ in "---|" }.joined())
    }

    func row(_ cells: String...) { line("| " + cells.joined(separator: " | ") + " |") }

    private func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}

extension Double {
    /// The number with this many decimals.
    func text(_ digits: Int = 1) -> String { String(format: "%.\(digits)f", self) }
}

/// The duration of `body` in seconds.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
}

/// The duration of `body` in seconds.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .seconds(1)
}

/// Ends the program if a measurement is invalid.
func expect(_ isRight: Bool) { precondition(isRight, "the cache did not answer as the measurement needs it") }
