import OnesheetPipeline
import Synchronization

/// Shows the progress of a prefetch or a bundle: one line that is redrawn on a terminal, or else a plain line every two seconds.
final class ProgressLine: Sendable {
    private let isQuiet: Bool
    private let isTerminal: Bool
    private let colors = StandardStreams.errorColors
    private let start = ContinuousClock.now
    private let nextLine = Mutex(ContinuousClock.now)
    private let isShown = Mutex(false)

    init(isQuiet: Bool, isTerminal: Bool) {
        self.isQuiet = isQuiet
        self.isTerminal = isTerminal
    }

    func show(_ summary: PrefetchSummary) {
        guard !isQuiet else { return }
        let now = ContinuousClock.now
        let isDue = nextLine.withLock { next in
            guard now >= next else { return false }
            next = now + (isTerminal ? .milliseconds(100) : .seconds(2))
            return true
        }
        guard isDue || (isTerminal && summary.done == summary.total) else { return }
        isShown.withLock { $0 = true }
        let line = Self.line(
            summary, elapsed: (now - start) / .seconds(1), bar: isTerminal, columns: StandardStreams.errorColumns, colors)
        StandardStreams.progress(isTerminal ? "\r\u{1B}[K\(line)" : line + "\n")
    }

    /// Ends the line on a terminal, if there is one.
    func end() {
        if !isQuiet, isTerminal, isShown.withLock({ $0 }) { StandardStreams.progress("\n") }
    }

    /// - Parameters:
    ///   - titles: their number.
    ///   - hasAnswers: whether answers count too.
    func finish(_ summary: PrefetchSummary, of titles: Int, hasAnswers: Bool = false) {
        guard !isQuiet else { return }
        end()
        for line in ErrorText.of(summary.failures.map { ($0.title, $0.reason) }) {
            StandardStreams.error("failed:", as: .error, " \(line)")
        }
        if summary.notKept > 0 {
            StandardStreams.error(
                "Warning:", as: .warning,
                " \(summary.notKept) of \(summary.made) were made, not kept: their origin forbids it (no-store, private or Vary: *). "
                    + "The key `freshness: { store: always }` of the source keeps them")
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let rest = summary.total - summary.done
        StandardStreams.error(
            Self.count(titles, summary.total) + (hasAnswers ? " and answers" : "")
                + ": \(summary.made) made (\(Self.size(summary.bytes))), \(summary.skipped) were cached, "
                + (summary.none > 0 ? "\(summary.none) do not exist, " : "") + "\(summary.failed) failed"
                + (rest > 0 ? ", \(rest) not tried: run the same command again to continue" : "") + "; \(Self.short(seconds)) s")
    }

    /// `[#####     ]  50/100  20/s  3 s left  1 failed`
    /// - Parameter columns: the width of the terminal. A narrow one has a shorter bar, or none, and no rate: a longer line would wrap and
    ///   could not be redrawn.
    static func line(
        _ summary: PrefetchSummary, elapsed: Double, bar: Bool, columns: Int = .max, _ colors: TerminalColors = .none
    ) -> String {
        let share = summary.total == 0 ? 1 : Double(summary.done) / Double(summary.total)
        // Skipped variants take no time, so the rate excludes them.
        let rate = elapsed > 0 ? Double(summary.done - summary.skipped - summary.none) / elapsed : 0
        let left = rate > 0 ? "\(Int((Double(summary.total - summary.done) / rate).rounded(.up))) s left" : "…"
        let (count, failed) = ("\(summary.done)/\(summary.total)", "\(summary.failed) failed")
        let whole = [count, "\(short(rate))/s", left, failed]
        // The last column stays free: some terminals wrap as soon as it is written.
        func room(_ parts: [String]) -> Int { columns - 1 - parts.joined(separator: "  ").count }
        let parts = [whole, [count, left, failed], [count, failed]].first { room($0) >= 0 } ?? [count]
        let width = bar ? min(room(parts) - "[] ".count, 30) : 0
        let filled = Int(share * Double(max(width, 0)))
        let drawing =
            width >= 5 ? "[\(String(repeating: "#", count: filled))\(String(repeating: " ", count: width - filled))] " : ""
        let shown = parts.map { $0 == failed && summary.failed > 0 ? colors.text(failed, .error) : $0 }
        return drawing + shown.joined(separator: "  ")
    }

    /// `2 titles, 4 images`
    static func count(_ titles: Int, _ images: Int) -> String {
        "\(titles) \(titles == 1 ? "title" : "titles"), \(images) \(images == 1 ? "image" : "images")"
    }

    private static func short(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    private static func size(_ bytes: Int) -> String {
        bytes < 1 << 20 ? "\(bytes / 1024) KiB" : "\(short(Double(bytes) / 1_048_576)) MiB"
    }
}
