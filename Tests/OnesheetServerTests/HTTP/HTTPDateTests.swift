import Foundation
import XCTest

@testable import OnesheetServer

final class HTTPDateTests: XCTestCase {
    func testThatADateIsWrittenAsTheRFCShowsIt() {
        XCTAssertEqual(HTTPDate.text(Date(timeIntervalSince1970: 784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    func testThatWhatIsWrittenCanBeRead() {
        XCTAssertEqual(HTTPDate.date("Sun, 06 Nov 1994 08:49:37 GMT"), Date(timeIntervalSince1970: 784_111_777))
    }

    func testThatAnythingElseIsNoDate() {
        for text in ["", "yesterday", "1994-11-06", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            XCTAssertNil(HTTPDate.date(text), text)
        }
    }
}
