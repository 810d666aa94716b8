import Foundation
import OnesheetValues
import XCTest

final class JSONReaderTests: XCTestCase {
    func testThatDocumentsAreReadAsTheyAreMeant() throws {
        let table: [(String, JSONValue)] = [
            ("null", .null), (" true ", true), ("false", false), ("0", 0), ("-0", 0), ("-0.0", 0), ("12", 12), ("1.0", 1),
            ("1e2", 100), ("1.5", .number(1.5)), ("-1E-2", .number(-0.01)), ("1e300", .number(1e300)), ("1e-300", .number(1e-300)),
            ("1e-999", 0), ("9223372036854775807", .integer(.max)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            ("\"\"", ""), ("\"a\\n\\\"\\\\\\/\\u00e9\\ud83c\\udfac\"", "a\n\"\\/é🎬"), ("[]", .array([])),
            ("[1,[2]]", .array([1, .array([2])])),
            ("{}", .object([:])), ("{\"a\" : {\"b\":[null]} }", .object(["a": .object(["b": .array([.null])])])),
            ("{\"a\":1,\"a\":2}", .object(["a": 2])), ("\u{FEFF}[1]", .array([1])),
        ]
        for (text, value) in table { XCTAssertEqual(try JSONValue(reading: text.utf8), value, text) }
    }

    func testThatWhatIsNoJSONIsRefused() {
        let texts = [
            "", " ", "nul", "truex", "+1", "01", "1.", ".5", "1e", "1e+", "-", "NaN", "Infinity", "nan", "1e999", "-1e999", "\"",
            "\"\\x\"",
            "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\u{1}\"", "[", "[1", "[1,]", "[,1]", "{", "{1:2}",
            "{\"a\"}",
            "{\"a\":}", "{\"a\":1,}", "{\"a\":1", "[1] 2", "'a'", "<html>", "\u{0}",
        ]
        for text in texts { XCTAssertThrowsError(try JSONValue(reading: text.utf8), text) }
    }

    func testThatBytesThatAreNoTextAreRefused() {
        // Overlong, half of a pair, truncated, beyond Unicode
        for bytes: [UInt8] in [[0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x84], [0xF5, 0x80, 0x80, 0x80], [0xFF]] {
            XCTAssertThrowsError(try JSONValue(reading: [0x22] + bytes + [0x22]))
        }
    }

    func testThatDepthAndNumberAreBounded() throws {
        // Given nested lists up to the limit, and beyond it
        func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        XCTAssertNoThrow(try JSONValue(reading: nested(65).utf8))
        XCTAssertThrowsError(try JSONValue(reading: nested(66).utf8))
        // And so many that recursion would end the process
        XCTAssertThrowsError(try JSONValue(reading: String(repeating: "[", count: 5_000_000).utf8))
        XCTAssertThrowsError(try JSONValue(reading: String(repeating: "{\"a\":", count: 1_000_000).utf8))
        // And more values than allowed
        XCTAssertThrowsError(try JSONValue(reading: ("[" + String(repeating: "\"a\",", count: 2_000_000) + "1]").utf8)) { error in
            XCTAssertEqual((error as? JSONDamage)?.reason, "there are more than 1000000 values")
        }
    }

    func testThatFoundationReadsTheSame() throws {
        // Given an encoder's output for values of all kinds
        let value = JSONValue.object([
            "text": "한글 \u{2028} \\ \"", "whole": .integer(.min), "number": .number(0.1),
            "list": .array([true, .null, "e\u{301}"]),
            "tiny": .number(.leastNonzeroMagnitude), "large": .number(.greatestFiniteMagnitude),
        ])
        // Then both decode it
        XCTAssertEqual(try JSONValue(reading: JSONEncoder().encode(value)), value)
    }
}
