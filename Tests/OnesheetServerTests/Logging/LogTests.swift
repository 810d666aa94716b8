import Foundation
import HTTPTypes
import Logging
import OnesheetCore
import OnesheetHTTP
import XCTest

@testable import OnesheetCommands
@testable import OnesheetServer

final class LogTests: XCTestCase {
    private let lines = LogLines()
    /// Line ends, terminal controls (C0, DEL and C1), direction marks and invisible characters.
    private let unseen = "\n\r\u{1B}\u{7F}\u{85}\u{9B}\u{2028}\u{2029}\u{202E}\u{2066}\u{FEFF}\u{E0001}"
    private var hostile: String { "a\(unseen)[31m\"\\ 한" }

    func testThatALineOfJSONHoldsWhatWasSaid() throws {
        // Given a logger with a field
        var logger = lines.logger(.json)
        logger[metadataKey: "plugin"] = "kobis"
        // When it logs a message
        logger.warning("no answer", metadata: ["title": "1"])
        // Then the line is valid JSON
        let fields = try fields(0)
        XCTAssertEqual(fields["message"], "no answer")
        XCTAssertEqual(fields["level"], "warning")
        XCTAssertEqual(fields["plugin"], "kobis")
        XCTAssertEqual(fields["title"], "1")
        let time = try XCTUnwrap(fields["time"])
        XCTAssertNotNil(time.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/), time)
    }

    func testThatNobodysFieldsTakeThePlaceOfOurs() throws {
        lines.logger(.json).warning("true", metadata: ["message": "false", "level": "none"])
        XCTAssertEqual(try fields(0)["message"], "true")
        XCTAssertEqual(try fields(0)["level"], "warning")
    }

    func testThatWhateverIsInAMessageItStaysOneLine() throws {
        for format in LogConfiguration.Format.allCases {
            lines.logger(format).warning("\(hostile)", metadata: ["path": "\(hostile)"])
        }
        XCTAssertEqual(lines.all.count, 2)
        for line in lines.all { XCTAssertFalse(line.unicodeScalars.contains(where: unseen.unicodeScalars.contains), line) }
        XCTAssertEqual(try fields(1)["path"], hostile)
    }

    func testThatLinesSayWhichRequestTheyAreAbout() throws {
        WorkContext.with({ $0.request = "abc-1" }) {
            lines.logger(.text).notice("within")
            lines.logger(.json).notice("within")
        }
        lines.logger(.text).notice("outside")
        XCTAssertTrue(lines.all[0].contains("request=abc-1"), lines.all[0])
        XCTAssertEqual(try fields(1)["request"], "abc-1")
        XCTAssertFalse(lines.all[2].contains("request="), lines.all[2])
    }

    func testThatTheLevelIsTheConfigurations() {
        lines.logger(level: .error).warning("not so bad")
        XCTAssertEqual(lines.all, [])
    }

    func testThatFormatAndLevelAreHeldAgainstWhatThereIs() throws {
        let file = ConfigurationFile(environment: [:])
        let good = try file.parse("log: { format: json, level: info }\nsources: { s: { type: sample } }").log
        XCTAssertEqual(good.format, .json)
        XCTAssertEqual(good.level, .info)
        for (log, message) in [
            ("{ format: jsn }", "log.format: unknown format “jsn”; did you mean “json”?"),
            ("{ level: loud }", "log.level: unknown level “loud”"), ("{ file: x }", "log"),
        ] {
            XCTAssertThrowsError(try file.parse("log: \(log)\nsources: { s: { type: sample } }")) {
                XCTAssertTrue("\($0)".hasPrefix(message), "\($0)")
            }
        }
    }

    func testThatALineIsNeverLongWhateverIsInIt() throws {
        for format in LogConfiguration.Format.allCases {
            // Given a logger, and texts that are long in bytes, in characters, or only after escaping
            for text in [
                String(repeating: "a", count: 50_000), String(repeating: "한", count: 20_000),
                String(repeating: "\u{202E}", count: 5000),
            ] {
                var logger = lines.logger(format)
                logger[metadataKey: "own"] = "\(text)"
                // When it logs them, in the message and in metadata
                logger.warning("\(text)", metadata: ["path": "\(text)", "why": "\(text)", "list": ["\(text)"]])
                // Then the line is short and marks the cut
                let line = try XCTUnwrap(lines.all.last)
                XCTAssertLessThanOrEqual(line.utf8.count, Log.longestLine)
                XCTAssertTrue(line.contains("…"), line)
                if format == .json {
                    let fields = try fields(lines.all.count - 1)
                    XCTAssertNotNil(fields["path"])
                    XCTAssertNotNil(fields["own"])
                }
            }
        }
    }

    func testThatTextIsCutBetweenCharacters() {
        for (text, bytes, short) in [
            ("abc", 3, "abc"), ("abcd", 3, "…"), ("abcdef", 5, "ab…"), ("한국어", 9, "한국어"), ("한국어!", 9, "한국…"),
            ("한국어!", 8, "한…"), ("", 0, ""),
        ] {
            XCTAssertEqual(text.shortened(to: bytes), short)
            XCTAssertLessThanOrEqual(text.shortened(to: bytes).utf8.count, max(bytes, 3))
        }
    }

    func testThatManyLinesOfOneKindAreLeftOutAndCounted() throws {
        // Given as many lines of one kind as the limit allows
        let (limiter, start) = (LogRateLimiter(), ContinuousClock.now)
        let (one, other) = (LogCallSite("a.swift", 1), LogCallSite("a.swift", 2))
        for _ in 0..<Int(LogRateLimiter.burst) { XCTAssertEqual(limiter.admit(one, at: start), 0) }
        // When more follow, then they are dropped, and another kind is not
        for _ in 0..<1000 { XCTAssertNil(limiter.admit(one, at: start)) }
        XCTAssertEqual(limiter.admit(other, at: start), 0)
        // And the next line has their number
        XCTAssertEqual(limiter.admit(one, at: start + .seconds(1)), 1000)
        XCTAssertEqual(limiter.admit(one, at: start + .seconds(1)), 0)
    }

    func testThatAFloodOfWarningsIsAFewLinesAndWhoeverDebugsSeesAll() {
        let logger = lines.logger()
        for index in 0..<1000 { logger.warning("trouble \(index)") }
        XCTAssertLessThan(lines.all.count, 100)
        let before = lines.all.count
        for index in 0..<1000 { logger.debug("answered \(index)") }
        XCTAssertEqual(lines.all.count - before, 1000)
    }

    func testThatAProblemIsNeverLong() throws {
        let problem = Problem(.badGateway, title: "Origin failed", detail: String(repeating: "한", count: 5000))
        XCTAssertLessThanOrEqual(problem.detail.utf8.count, 1024)
        XCTAssertTrue(problem.detail.hasSuffix("…"))
    }

    private func fields(_ index: Int) throws -> [String: String] {
        try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(lines.all[index].utf8)) as? [String: String])
    }
}
