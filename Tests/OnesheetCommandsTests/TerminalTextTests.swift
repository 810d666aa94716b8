import Foundation
import XCTest

@testable import OnesheetCommands

final class TerminalTextTests: XCTestCase {
    private let hostile = "a\u{1B}[31m\t\r\nb\u{9B}\u{202E}"

    func testThatACellIsOneCell() {
        XCTAssertEqual(TerminalText.row(["1", hostile]), "1\ta\\u{1b}[31m\\u{9}\\u{d}\\u{a}b\\u{9b}\\u{202e}")
    }

    func testThatLinesKeepTheirEndsAlone() {
        XCTAssertEqual(TerminalText.lines(hostile), "a\\u{1b}[31m\t\\u{d}\nb\\u{9b}\\u{202e}")
    }

    func testThatQuotedArgumentsForgeNoLine() {
        let message = "Error: “\(hostile)” is not a day\nUsage: onesheet"
        for arguments in [["--date", hostile], ["--date=\(hostile)"]] {
            let text = TerminalText.escaping(arguments, in: message)
            XCTAssertEqual(text.split(separator: "\n").count, 2, text)
            XCTAssertTrue(text.hasSuffix("\nUsage: onesheet"), text)
        }
    }

    func testThatADocumentStaysTheSame() throws {
        // Given a document with texts that JSON does not escape
        let texts = [hostile, "\u{E0001}", "한"]
        let document = String(decoding: try JSONEncoder().encode(texts), as: UTF8.self) + "\n"
        // When it is made harmless
        let shown = TerminalText.json(document)
        // Then it has the same meaning
        XCTAssertEqual(shown.unicodeScalars.filter { !$0.isASCII && $0 != "한" }.count, 0, shown)
        XCTAssertEqual(try JSONDecoder().decode([String].self, from: Data(shown.utf8)), texts)
    }
}
