import NIOCore
import XCTest

@testable import OnesheetHTTP

final class ByteRangesTests: XCTestCase {
    func testThatRangesAreReadAsRFC9110Says() {
        let many = (0..<17).map { "\($0 * 2)-\($0 * 2)" }.joined(separator: ",")
        let table: [(String?, ByteRanges)] = [
            (nil, .whole), ("bytes=0-499", .parts([0..<500])), ("bytes=500-999", .parts([500..<1000])),
            ("bytes=-500", .parts([500..<1000])), ("bytes=500-", .parts([500..<1000])), ("bytes=0-", .parts([0..<1000])),
            ("bytes=0-0,-1", .parts([0..<1, 999..<1000])), ("bytes=999-2000", .parts([999..<1000])),
            ("bytes=-2000", .parts([0..<1000])), ("BYTES = 0-1", .parts([0..<2])), ("bytes= 0-1 ,\t3-4,", .parts([0..<2, 3..<5])),
            ("bytes=5-9,0-1", .parts([5..<10, 0..<2])), ("bytes=0-1,1000-", .parts([0..<2])),
            ("bytes=0-99999999999999999999", .parts([0..<1000])),
            // Beyond the end
            ("bytes=1000-", .unsatisfiable), ("bytes=1000-1001,2000-", .unsatisfiable), ("bytes=-0", .unsatisfiable),
            ("bytes=99999999999999999999-", .unsatisfiable),
            // Not ranges, so the whole body is sent
            ("", .whole), ("bytes", .whole), ("bytes=", .whole), ("bytes=-", .whole), ("bytes=2-1", .whole), ("bytes=a-b", .whole),
            ("bytes=+1-2", .whole), ("bytes=1--2", .whole), ("bytes=0x1-2", .whole), ("bytes=0-1,x", .whole), ("items=0-1", .whole),
            ("bytes=1 - 2", .whole), ("bytes=١-٢", .whole),
            // More ranges than needed
            ("bytes=0-10,5-15", .whole), ("bytes=0-,0-", .whole), ("bytes=-10,995-", .whole), ("bytes=" + many, .whole),
        ]
        for (field, ranges) in table { XCTAssertEqual(ByteRanges(field, size: 1000), ranges, field ?? "none") }
    }

    func testThatPartsArePutTogetherAsOneBody() {
        // Given two parts of a body
        let whole = ByteBuffer(string: "0123456789")
        // When they are combined
        let all = MultipartRanges(
            [0..<2, 9..<10].map { ($0, whole.slice($0)) }, of: whole.readableBytes, mediaType: "image/png", validator: "v")
        // Then each has its position
        XCTAssertEqual(all.mediaType, "multipart/byteranges; boundary=onesheet-v")
        XCTAssertEqual(
            String(buffer: all.body),
            "--onesheet-v\r\nContent-Type: image/png\r\nContent-Range: bytes 0-1/10\r\n\r\n01\r\n"
                + "--onesheet-v\r\nContent-Type: image/png\r\nContent-Range: bytes 9-9/10\r\n\r\n9\r\n--onesheet-v--\r\n")
    }
}
