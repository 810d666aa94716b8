import XCTest

@testable import OnesheetPipeline
@testable import OnesheetCommands

final class ProgressLineTests: XCTestCase {
    func testThatTheLineSaysCountRateTimeLeftAndFailures() {
        // Given half of the work done in ten seconds, and variants that already existed
        var summary = PrefetchSummary(total: 120)
        (summary.made, summary.skipped) = (48, 20)
        summary.add(.init(title: "a://1", variants: 2, reason: ""))
        // When it is shown
        let line = ProgressLine.line(summary, elapsed: 10, bar: true)
        // Then existing variants do not affect the rate
        XCTAssertEqual(line, "[#################             ] 70/120  5.0/s  10 s left  2 failed")
        // And failures are coloured if colours are on
        let colors = TerminalColors(isTerminal: true, environment: ["TERM": "xterm"])
        let colored = ProgressLine.line(summary, elapsed: 10, bar: true, colors)
        XCTAssertEqual(colored, line.replacing("2 failed", with: "\u{1B}[31m2 failed\u{1B}[0m"))
    }

    func testLineFitsTheTerminal() {
        // Given a long line of progress
        var summary = PrefetchSummary(total: 120_000)
        (summary.made, summary.skipped) = (48_000, 20)
        summary.add(.init(title: "a://1", variants: 2000, reason: ""))
        // Then it fits every terminal, with as much as there is room for
        for columns in 20...120 {
            let line = ProgressLine.line(summary, elapsed: 10, bar: true, columns: columns)
            XCTAssertLessThan(line.count, columns, line)
            XCTAssertTrue(line.contains("50020/120000"), line)
            XCTAssertEqual(line.contains("/s"), columns >= 47, line)
        }
        XCTAssertEqual(ProgressLine.line(summary, elapsed: 10, bar: true, columns: 40), "50020/120000  14 s left  2000 failed")
    }

    func testThatFailuresAreOneLineForEachReason() {
        // Given more failed titles than fit on a line for one reason, and one for another
        let failures = (1...1200).map { (title: "a://\($0)", reason: "the quota is used up") } + [(title: "a://x", reason: "gone")]
        // When they are printed
        let lines = ErrorText.of(failures)
        // Then
        XCTAssertEqual(lines, ["1200 titles, a://1, a://2, a://3 and 1197 more: the quota is used up", "a://x: gone"])
        XCTAssertEqual(ErrorText.of([("a", "r"), ("b", "r")]), ["2 titles, a, b: r"])
        XCTAssertEqual(ErrorText.of([]), [])
    }

    func testThatWithoutABarTheLineIsPlain() {
        XCTAssertEqual(ProgressLine.line(PrefetchSummary(total: 4), elapsed: 0, bar: false), "0/4  0.0/s  …  0 failed")
    }
}
