import OnesheetCore
import XCTest

final class EXIFTests: XCTestCase {
    /// A TIFF structure of either byte order with these entries: tag, type, count, and the four bytes of the value.
    private func tiff(_ isLittle: Bool, _ entries: [(Int, Int, Int, [UInt8])], rest: [UInt8] = []) -> [UInt8] {
        func number(_ value: Int, _ bytes: Int) -> [UInt8] {
            let big = (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittle ? big.reversed() : big
        }
        let head: [UInt8] = isLittle ? [0x49, 0x49] : [0x4D, 0x4D]
        return head + number(42, 2) + number(8, 4) + number(entries.count, 2)
            + entries.flatMap { number($0.0, 2) + number($0.1, 2) + number($0.2, 4) + $0.3 } + number(0, 4) + rest
    }

    /// A number of this many bytes, at the left of the four bytes of a value.
    private func value(_ number: Int, _ bytes: Int, isLittle: Bool) -> [UInt8] {
        let big = (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return (isLittle ? big.reversed() : big) + [UInt8](repeating: 0, count: 4 - bytes)
    }

    /// The integer types (TIFF 6.0 §2) and their sizes: BYTE, SHORT, LONG, SBYTE, SSHORT, SLONG.
    private let types = [1: 1, 3: 2, 4: 4, 6: 1, 8: 2, 9: 4]

    func testThatOrientationIsReadFromEveryTypeOfWholeNumber() {
        for (type, bytes) in types {
            for isLittle in [false, true] {
                for orientation in Orientation.allCases {
                    // Given
                    let tiff = tiff(isLittle, [(0x0112, type, 1, value(orientation.rawValue, bytes, isLittle: isLittle))])
                    // When, then
                    XCTAssertEqual(EXIF(tiff: tiff).orientation, orientation, "type \(type), little endian: \(isLittle)")
                }
            }
        }
    }

    func testThatWhatIsNoOrientationIsUpright() {
        for (type, bytes) in types {
            for number in [0, 9, -1, -6, 1 << (8 * bytes - 1)] {
                XCTAssertEqual(EXIF(tiff: tiff(true, [(0x0112, type, 1, value(number, bytes, isLittle: true))])).orientation, .up)
            }
        }
        // Texts, fractions and floating point are not integers, and two numbers are not one.
        for type in [2, 5, 7, 10, 11, 12] {
            XCTAssertEqual(EXIF(tiff: tiff(true, [(0x0112, type, 1, [6, 0, 0, 0])])).orientation, .up, "type \(type)")
        }
        XCTAssertEqual(EXIF(tiff: tiff(true, [(0x0112, 3, 2, [6, 0, 6, 0])])).orientation, .up)
    }

    func testThatAnUprightStructureSaysSoWhateverItsTypeWas() {
        for (type, bytes) in types {
            for isLittle in [false, true] {
                // Given
                let tiff = tiff(
                    isLittle, [(0x010F, 4, 1, [1, 2, 3, 4]), (0x0112, type, 1, value(6, bytes, isLittle: isLittle))], rest: [9, 9])
                // When
                let upright = EXIF.upright(tiff: tiff)
                // Then no other byte has changed
                XCTAssertEqual(EXIF(tiff: upright).orientation, .up)
                XCTAssertEqual(upright.count, tiff.count)
                XCTAssertEqual(upright.prefix(24), tiff.prefix(24))
                XCTAssertEqual(upright.suffix(6), tiff.suffix(6))
                // And a reader that supports only SHORT reads 1
                XCTAssertEqual(
                    Array(upright[24..<34]), Array((isLittle ? [3, 0, 1, 0, 0, 0, 1, 0] : [0, 3, 0, 0, 0, 1, 0, 1]) + [0, 0]))
            }
        }
    }

    func testThatATagCountsOnce() {
        // Given thousands of copyright notices, the first of which differs: all would be parsed and all but one discarded
        let text = [UInt8](repeating: 0x61, count: 40_000)
        let start = 8 + 2 + 3000 * 12 + 4
        func place(_ number: Int) -> [UInt8] { value(number, 4, isLittle: true) }
        let entries = (0..<3000).map { (0x8298, 2, $0 == 0 ? 2 : 40_000, $0 == 0 ? [0x62, 0, 0, 0] : place(start)) }
        // When, then
        XCTAssertEqual(EXIF(tiff: tiff(true, entries, rest: text)).copyright, "b")
    }

    func testThatALongNoticeIsCut() {
        let text = [UInt8](repeating: 0x61, count: 100_000)
        let tiff = tiff(true, [(0x8298, 2, text.count, value(26, 4, isLittle: true))], rest: text)
        XCTAssertEqual(EXIF(tiff: tiff).copyright?.utf8.count, 65_000)
    }
}
