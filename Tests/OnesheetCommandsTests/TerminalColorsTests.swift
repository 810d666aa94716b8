import XCTest

@testable import OnesheetCommands

final class TerminalColorsTests: XCTestCase {
    func testThatColoursNeedATerminalAndAUserWhoWantsThem() {
        for (isTerminal, environment, isOn) in [
            (true, ["TERM": "xterm-256color"], true), (false, ["TERM": "xterm"], false), (true, ["TERM": "dumb"], false),
            (true, [:], false), (true, ["TERM": "xterm", "NO_COLOR": "1"], false), (true, ["TERM": "xterm", "NO_COLOR": ""], true),
            (true, ["TERM": "xterm", "NO_COLOR": "0"], false),
        ] {
            // When
            let colors = TerminalColors(isTerminal: isTerminal, environment: environment)
            // Then
            XCTAssertEqual(
                colors.text("words", .error), isOn ? "\u{1B}[31mwords\u{1B}[0m" : "words", "\(isTerminal) \(environment)")
        }
    }
}
