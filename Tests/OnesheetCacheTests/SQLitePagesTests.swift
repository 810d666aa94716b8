import XCTest

@testable import OnesheetCache

final class SQLitePagesTests: XCTestCase {
    func testThatAMassOfReferencesToOneRecordIsReadOnlyInPart() {
        // Given a leaf of an index whose 1,000 cells are one record of 21 KB, on an overflow page that continues on itself
        let (page, column) = (4096, 489 + 4092 * 5 + 600 - 4)
        var file = [UInt8](repeating: 0, count: 8 * page)
        func put(_ bytes: [UInt8], at place: Int) { file.replaceSubrange(place..<place + bytes.count, with: bytes) }
        put([0x0A, 0, 0] + word(1000), at: page)
        for cell in 0..<1000 { put(word(3000), at: page + 8 + 2 * cell) }
        // One text: the length of the header, and the type, which tells the length of the text.
        let record = [4] + number(13 + 2 * column) + [UInt8](repeating: UInt8(ascii: "a"), count: 485)
        put(number(column + 4) + record + [0, 0, 0, 3], at: page + 3000)
        put([0, 0, 0, 3] + [UInt8](repeating: UInt8(ascii: "a"), count: page - 4), at: 2 * page)
        // When it is searched
        let records = SQLitePages(file).records()
        // Then it is found, but no more of it than the file and the longest record have bytes
        XCTAssertEqual(records.first?.map(\.utf8.count), [column])
        XCTAssertEqual(records.count, (file.count + (16 << 20)) / (column + 4))
    }

    private func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    /// A number of three bytes, seven bits in each.
    private func number(_ value: Int) -> [UInt8] {
        [UInt8(value >> 14 | 0x80), UInt8(value >> 7 & 0x7F | 0x80), UInt8(value & 0x7F)]
    }
}
