import OnesheetCore
import XCTest

@testable import OnesheetImaging

final class TurnTests: XCTestCase {
    /// A turned picture of three by two numbered pixels.
    private func turned(_ turn: Turn) throws -> [[UInt8]] {
        var picture = try PixelBuffer(PixelLayout(width: 3, height: 2, model: .gray), limits: Limits())
        for y in 0..<2 { picture.withMutableRow(y) { row in for x in 0..<3 { row[x] = UInt8(y * 3 + x + 1) } } }
        let outcome = try picture.turned(turn, limits: Limits(), by: .never)
        return (0..<outcome.layout.height).map { y in
            outcome.withRow(y) { row in (0..<outcome.layout.width).map { row[$0] } }
        }
    }

    func testThatEachOrientationStandsUpright() throws {
        // Given the definitions of row and column 0 in CIPA DC-008
        let expected: [Orientation: [[UInt8]]] = [
            .up: [[1, 2, 3], [4, 5, 6]], .upMirrored: [[3, 2, 1], [6, 5, 4]], .down: [[6, 5, 4], [3, 2, 1]],
            .downMirrored: [[4, 5, 6], [1, 2, 3]], .leftMirrored: [[1, 4], [2, 5], [3, 6]], .right: [[4, 1], [5, 2], [6, 3]],
            .rightMirrored: [[6, 3], [5, 2], [4, 1]], .left: [[3, 6], [2, 5], [1, 4]],
        ]
        for orientation in Orientation.allCases {
            // When, then
            XCTAssertEqual(try turned(Turn(orientation)), expected[orientation], "\(orientation)")
        }
    }

    func testThatRotationIsClockwise() throws {
        XCTAssertEqual(try turned(Turn.none.rotated(90)), [[4, 1], [5, 2], [6, 3]])
        XCTAssertEqual(try turned(Turn.none.rotated(180)), [[6, 5, 4], [3, 2, 1]])
        XCTAssertEqual(try turned(Turn.none.rotated(270)), [[3, 6], [2, 5], [1, 4]])
    }

    func testThatFlippingComesAfterRotation() throws {
        XCTAssertEqual(try turned(Turn.none.rotated(90).flipped(x: true, y: false)), [[1, 4], [2, 5], [3, 6]])
    }

    func testThatAPartIsFoundInTheStoredPicture() {
        for orientation in Orientation.allCases {
            // Given the upper left pixel of the turned picture
            let turn = Turn(orientation)
            let size = turn.size(Size(width: 3, height: 2))
            // When
            let part = turn.undone(Rectangle(x: 0, y: 0, width: 1, height: 1), in: size)
            // Then
            let corner = [
                Orientation.up: 1, .upMirrored: 3, .down: 6, .downMirrored: 4, .leftMirrored: 1, .right: 4, .rightMirrored: 6,
                .left: 3,
            ]
            XCTAssertEqual(Int(part.y) * 3 + Int(part.x) + 1, corner[orientation], "\(orientation)")
        }
    }
}
