import NIOHPACK
import XCTest

@testable import OnesheetServer

final class RequestFieldsTests: XCTestCase {
    private static let head = [(":method", "GET"), (":scheme", "https"), (":path", "/")]

    func testThatRequestsOfClientsAreAccepted() {
        for more in [
            [(":authority", "h")], [(":authority", "")], [("te", "trailers")], [("cookie", "a=b"), ("cookie", "c=d")],
            [("content-length", "5"), ("content-length", "5")], [("x", "")], [("x", "a\tb")], [("x", "포스터")],
            [("!#$%&'*+-.^_`|~0az", "x")],
        ] {
            XCTAssertTrue(RequestFields.areHead(HPACKHeaders(Self.head + more)), "\(more)")
        }
        XCTAssertTrue(RequestFields.areHead(HPACKHeaders([(":method", "CONNECT"), (":authority", "h:1")])))
        XCTAssertTrue(RequestFields.areHead(HPACKHeaders([(":method", "M-SEARCH"), (":scheme", "x"), (":path", "*")])))
        XCTAssertTrue(RequestFields.areTrailers(HPACKHeaders([("x", "y")])))
        XCTAssertTrue(RequestFields.areTrailers(HPACKHeaders()))
    }

    func testThatMalformedRequestsAreRefused() {
        // RFC 9113 §8.2.1, §8.2.2, §8.3 and §8.3.1, RFC 9110 §8.6
        for more in [
            [("Upper", "x")], [("", "x")], [("a b", "x")], [("a:b", "x")], [("ä", "x")], [("a\u{7F}", "x")], [("a\0", "x")],
            [("x", "a\nb")], [("x", "a\rb")], [("x", "a\0b")], [("x", "\u{7F}")], [("x", " a")], [("x", "a ")], [("x", "\ta")],
            [("connection", "close")], [("keep-alive", "1")], [("proxy-connection", "x")], [("transfer-encoding", "chunked")],
            [("upgrade", "h2c")], [("te", "gzip")], [("te", "trailers, gzip")], [(":path", "/b")], [(":method", "GET")],
            [(":authority", "a"), (":authority", "b")], [("x", "y"), (":authority", "h")], [(":status", "200")],
            [(":protocol", "websocket")],
            [("content-length", "-1")], [("content-length", "+1")], [("content-length", "1"), ("content-length", "2")],
            [("content-length", "")], [("content-length", "99999999999999999999")],
        ] {
            XCTAssertFalse(RequestFields.areHead(HPACKHeaders(Self.head + more)), "\(more)")
        }
        for head in [
            [], [(":method", "GET")], [(":method", "GET"), (":scheme", "https")], [(":scheme", "https"), (":path", "/")],
            [(":method", ""), (":scheme", "https"), (":path", "/")], [(":method", "GET"), (":scheme", "https"), (":path", "")],
            [(":method", "G T"), (":scheme", "https"), (":path", "/")], [(":method", "CONNECT")],
            [(":method", "CONNECT"), (":authority", "h"), (":path", "/")],
            [("host", "h"), (":method", "GET"), (":scheme", "https"), (":path", "/")],
        ] {
            XCTAssertFalse(RequestFields.areHead(HPACKHeaders(head)), "\(head)")
        }
        XCTAssertFalse(RequestFields.areTrailers(HPACKHeaders([(":path", "/")])))
        XCTAssertFalse(RequestFields.areTrailers(HPACKHeaders([("Upper", "x")])))
    }
}
