import NIOCore
import OnesheetCore
import XCTest

final class JSONDecodingTests: XCTestCase {
    private struct Answer: Decodable, Equatable {
        let total: Int
        let share: Double
        let names: [String: String]
    }

    func testThatADocumentIsDecodedAsFoundationDoes() throws {
        let text = #"{"total": 3, "share": 0.5, "names": {"a": "한글 \"x\"", "b": ""}, "more": [null, true, 1e3]}"#
        XCTAssertEqual(
            try Answer(readingJSON: ByteBuffer(string: text)), Answer(total: 3, share: 0.5, names: ["a": "한글 \"x\"", "b": ""]))
    }

    func testThatTextThatTakesLongToCompareIsChanged() throws {
        let marks = String(repeating: "\\u0301", count: 8000) + String(repeating: "\\u0316", count: 8000)
        let text = "{\"total\": 1, \"share\": 1, \"names\": {\"\(marks)\": \"\(marks)\"}, \"\(marks)\": 1}"
        let names = try Answer(readingJSON: ByteBuffer(string: text)).names
        XCTAssertEqual(names.count, 1)
        for (name, value) in names {
            XCTAssertTrue(name.isStreamSafe)
            XCTAssertTrue(value.isStreamSafe)
        }
    }

    func testThatADocumentBeyondTheLimitsIsRefused() {
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        for text in ["", "{", "{\"total\": \(deep)}"] {
            XCTAssertThrowsError(try Answer(readingJSON: ByteBuffer(string: text)), text) {
                XCTAssertTrue($0 is JSONDamage, "\($0)")
            }
        }
        XCTAssertThrowsError(try Answer(readingJSON: ByteBuffer(string: "{}"))) { XCTAssertTrue($0 is DecodingError, "\($0)") }
    }
}
