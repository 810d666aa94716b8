import OnesheetCore
import XCTest

@testable import SampleSource

final class PaintingTests: XCTestCase {
    func testThatAShapeCoversItsAreaExactly() throws {
        // Given a circle whose edge cuts many pixels, partly outside the canvas on two sides
        let (whole, cut) = (Path.circle(Point(0.5, 0.5), 0.3), Path.circle(Point(0, 0.5), 0.3))

        // When
        let areas = try [whole, cut].map { try area($0) }

        // Then
        XCTAssertEqual(areas[0], .pi * 30 * 30, accuracy: 5)
        XCTAssertEqual(areas[1], .pi * 30 * 30 / 2, accuracy: 5)
    }

    func testThatOverlappingStrokesCountOnce() throws {
        // Given
        let line = Path.stroke([Point(0.2, 0.2), Point(0.8, 0.8), Point(0.2, 0.2)], width: 0.1)
        let once = Path.stroke([Point(0.2, 0.2), Point(0.8, 0.8)], width: 0.1)

        // When
        let areas = [try area(line), try area(once)]

        // Then
        XCTAssertEqual(areas[0], areas[1], accuracy: 80, "only edges, which are partly covered twice, may differ")
    }

    func testThatAShapeOffTheCanvasCoversNothing() {
        // Given
        let shapes = [Path.circle(Point(-1, 0.5), 0.3), Path.circle(Point(0.5, 3), 0.3), Path()]

        // When
        let coverages = shapes.map { Coverage(of: $0, scale: 100, canvasWidth: 100, canvasHeight: 150) == nil }

        // Then
        XCTAssertEqual(coverages, [true, true, true])
    }

    func testThatEveryCharacterOfEveryNameCanBeWritten() {
        // Given
        let names = SampleFilm.catalogue.flatMap { [$0.koreanName, $0.name.uppercased(), $0.genre.uppercased()] }
        let characters = Set(names.joined()).subtracting([" "])

        // When
        let missing = characters.filter { HangulLetters.strokes($0) == nil && LatinLetters.strokes($0) == nil }

        // Then
        XCTAssertEqual(missing, [])
    }

    func testThatASyllableIsPutTogetherFromItsLetters() throws {
        // Given initial and vowel; with a final; with a double final
        let syllables: [Character] = ["가", "각", "넋"]

        // When
        let strokes = try syllables.map { try XCTUnwrap(HangulLetters.strokes($0)).strokes.count }

        // Then
        XCTAssertEqual(strokes, [3, 4, 6], "ㄱ and the two of ㅏ; ㄱ below; ㄴ, the two of ㅓ, ㄱ and the two of ㅅ")
        XCTAssertNil(HangulLetters.strokes("A"))
        XCTAssertNil(HangulLetters.strokes("ㄱ"))
    }

    func testThatLetteringShrinksToFit() {
        // Given
        let lettering = Lettering(size: 0.1, weight: 0.1, spacing: 0.2)

        // When
        let fitted = lettering.fitting("A VERY LONG NAME", into: 0.5)

        // Then
        XCTAssertEqual(fitted.width(of: "A VERY LONG NAME"), 0.5, accuracy: 0.001)
        XCTAssertEqual(lettering.fitting("A", into: 0.5).size, 0.1)
    }

    func testThatTheSameSeedGivesTheSameNumbers() {
        // Given
        var (first, second, other) = (SeededRandom(seed: 1), SeededRandom(seed: 1), SeededRandom(seed: 2))

        // When
        let numbers = [first.next(), second.next(), other.next()]

        // Then
        XCTAssertEqual(numbers[0], numbers[1])
        XCTAssertNotEqual(numbers[0], numbers[2])
    }

    private func area(_ path: Path) throws -> Float {
        let coverage = try XCTUnwrap(Coverage(of: path, scale: 100, canvasWidth: 100, canvasHeight: 150))
        var sum: Float = 0
        var row = [Float](repeating: 0, count: coverage.width)
        for y in 0..<coverage.height {
            row.withUnsafeMutableBufferPointer { coverage.row(y, into: $0) }
            sum += row.reduce(0, +)
        }
        return sum
    }
}
