import Foundation
import XCTest

@testable import ExecSource

final class LastWordsTests: XCTestCase {
    private func text(_ written: String) -> String? {
        var (words, buffer) = (LastWords(), LineBuffer())
        for line in buffer.lines(after: Data(written.utf8)) { words.add(line) }
        return words.text
    }

    func testThatTheCauseIsFoundWhereEachLanguagePutsIt() {
        // Given what programs in several languages write when they fail
        let cases = [
            ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'id'\n", "KeyError: 'id'"),
            (
                "node:internal:1\n  throw err;\n  ^\n\nError: Cannot find module 'x'\nRequire stack:\n- /a.js\n    at f\n\nNode.js v18\n",
                "Error: Cannot find module 'x' / Require stack: / - /a.js"
            ),
            (
                "thread 'main' panicked at src/main.rs:2:5:\nboom\nnote: run with `RUST_BACKTRACE=1`\n",
                "thread 'main' panicked at src/main.rs:2:5: / boom / note: run with `RUST_BACKTRACE=1`"
            ),
            (
                "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:4\n",
                "panic: boom / goroutine 1 [running]: / main.main()"
            ),
            ("loading\nsh: 1: onesheet-films: not found\n", "sh: 1: onesheet-films: not found"),
        ]

        for (written, expected) in cases {
            // When
            let found = text(written)

            // Then
            XCTAssertEqual(found, expected)
        }
    }

    func testThatNoWordsAreNoText() {
        XCTAssertNil(text(""))
        XCTAssertNil(text("\n  \n"))
    }

    func testThatWordsAreBoundedAndCannotChangeATerminal() throws {
        // Given a flood of long lines with control characters
        let line = "\u{1b}[2J" + String(repeating: "ä", count: 5000) + "\n"

        // When
        let found = try XCTUnwrap(text(String(repeating: "error \(line)", count: 100)))

        // Then
        XCTAssertLessThan(found.utf8.count, 1000)
        XCTAssertFalse(found.utf8.contains(0x1b))
    }

    func testThatSignalsHaveNames() {
        XCTAssertEqual(signalName(SIGSEGV), "SIGSEGV")
        XCTAssertEqual(signalName(SIGXCPU), "SIGXCPU")
        XCTAssertEqual(signalName(42), "42")
    }
}
