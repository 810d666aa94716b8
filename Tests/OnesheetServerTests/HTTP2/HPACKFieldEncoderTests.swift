import HTTPTypes
import NIOCore
import NIOHPACK
import XCTest

@testable import OnesheetServer

final class HPACKFieldEncoderTests: XCTestCase {
    func testThatClientsReadWhatIsWritten() throws {
        // Given heads with fields of the static table, others, long ones and empty ones
        let values = ["", "a", "=?", String(repeating: "b", count: 126), String(repeating: "c", count: 127), "포스터"]
        let long = String(repeating: "d", count: 20_000)
        for status in ["200", "204", "206", "304", "400", "404", "500", "503", "100"] {
            var fields = HPACKHeaders([(":status", status), ("etag", "\"x\""), ("onesheet-color", "#fff"), ("set-cookie", long)])
            for (number, value) in values.enumerated() {
                fields.add(name: number.isMultiple(of: 2) ? "link" : "x-\(number)", value: value)
            }
            // When a client without a dynamic table decodes them
            var block = HPACKFieldEncoder.block(fields)
            var decoder = HPACKDecoder(allocator: ByteBufferAllocator(), maxDynamicTableSize: 0, maxHeaderListSize: 1 << 20)
            let read = try decoder.decodeHeaders(from: &block)
            // Then they are the same, in their order
            XCTAssertEqual(read.map { "\($0.name): \($0.value)" }, fields.map { "\($0.name): \($0.value)" })
            XCTAssertEqual(block.readableBytes, 0)
        }
    }

    func testThatNamesAreInLowercase() throws {
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "image/jpeg", .init("X-Own")!: "1"])
        var block = HPACKFieldEncoder.block(head)
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        let read = try decoder.decodeHeaders(from: &block)
        XCTAssertEqual(read.map(\.name), [":status", "content-type", "x-own"])
    }
}
