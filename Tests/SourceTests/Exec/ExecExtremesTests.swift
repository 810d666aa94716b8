import Foundation
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ExecSource

final class ExecExtremesTests: XCTestCase {
    func testThatNoValueOfAProgramTraps() async {
        // Given a page, a title, candidates and errors with each extreme value in each position
        let title =
            #"{"id":"1","name":"One","originalName":"o","overview":"o","releaseDate":"2026-10-28","rank":3,"metadata":{"n":90,"l":[1]}}"#
        let answers = [
            title, #"{"titles":[\#(title)],"total":7,"next":2}"#,
            #"{"candidates":[{"url":"http://a.example/x","width":2,"height":3,"site":"s","page":"p","published":"2026-10-28T00:00:00Z"}]}"#,
        ]
        for variant in answers.flatMap(ExtremeJSON.variants) { await expectUsable(.answer(variant)) }
        for variant in ExtremeJSON.variants(
            of: #"{"jsonrpc":"2.0","id":7,"error":{"code":-32003,"message":"m","data":{"until":1}}}"#)
        {
            await expectUsable(.raw(variant.split(separator: #""id":7"#).joined(separator: #""id":ID"#)))
        }
    }

    func testThatTimesThatNoCalendarHasAreNotTold() async {
        for until in ["1e300", "-1e300", "9223372036854775807"] {
            let source = source(.raw(#"{"id":ID,"error":{"code":-32003,"message":"m","data":{"until":\#(until)}}}"#))
            do throws(SourceError) {
                _ = try await source.title("1")
                XCTFail("it answered")
            } catch {
                XCTAssertEqual(AnswerCheck.checked(error), .quotaExhausted(until: nil))
            }
        }
    }

    func testThatWhatIsNoTextIsNoAnswer() async throws {
        // Given bytes that are not UTF-8, and endlessly nested lists
        for text in [#"{"id":ID,"result":\#(String(repeating: "[", count: 100_000))"#, #"{"id":ID,"result":{"id":"\ud800"}}"#] {
            do throws(SourceError) {
                _ = try await source(.raw(text)).title("1")
                XCTFail("it answered")
            } catch {
                guard case .malformedAnswer = error else { return XCTFail("\(error)") }
            }
        }
        XCTAssertNil(RemoteAnswer(line: Data(#"{"id":1,"result":""#.utf8) + [0xC0, 0x80] + Data(#""}"#.utf8)))
    }

    func testThatLinesAreMadeWhateverThePiecesAre() {
        // Given lines of many lengths, including empty ones
        let lines = (0..<300).map { String(repeating: "x", count: $0 * 7 % 100) }
        let bytes = Data(lines.joined(separator: "\n").utf8) + Data("\nrest".utf8)
        for size in [1, 2, 3, 64, 1000, bytes.count] {
            // When they arrive in pieces
            var buffer = LineBuffer()
            var read: [Data] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                read += buffer.lines(after: bytes[start..<min(start + size, bytes.count)])
            }
            // Then the result has all lines except the empty ones
            XCTAssertEqual(read.map { String(decoding: $0, as: UTF8.self) }, lines.filter { !$0.isEmpty })
            XCTAssertEqual(buffer.rest, 4)
        }
    }

    private func source(_ reaction: ScriptedLauncher.Reaction) -> ExecSource {
        ExecSource(launcher: ScriptedLauncher { _, _ in reaction }, context: .forTesting())
    }

    private func expectUsable(_ reaction: ScriptedLauncher.Reaction) async {
        let problems = await AnswerTrial.problems(of: source(reaction), id: "1")
        XCTAssertEqual(problems, [], "\(reaction)")
    }
}
