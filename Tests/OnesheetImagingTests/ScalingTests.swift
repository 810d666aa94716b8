import OnesheetCore
import XCTest

@testable import OnesheetImaging

/// Sizes according to imgproxy's options.
final class ScalingTests: XCTestCase {
    private func scaling(
        _ width: Int, _ height: Int, resizing: Transform.Resizing, box: (Int, Int),
        changing change: (inout Transform) -> Void = { _ in }
    ) -> Scaling {
        var transform = Transform()
        transform.resizing = resizing
        (transform.width, transform.height) = box
        change(&transform)
        return Scaling(Size(width: width, height: height), transform)
    }

    private func assert(_ scaling: Scaling, _ scaled: (Int, Int), cutTo result: (Int, Int)? = nil, line: UInt = #line) {
        XCTAssertEqual(scaling.scaled, Size(width: scaled.0, height: scaled.1), line: line)
        let result = result ?? scaled
        XCTAssertEqual(scaling.result, Size(width: result.0, height: result.1), line: line)
    }

    func testThatFitKeepsTheWholePictureInsideTheBox() { assert(scaling(2000, 3000, resizing: .fit, box: (300, 300)), (200, 300)) }
    func testThatFitWithOnlyAWidthFollowsTheShape() { assert(scaling(2000, 3000, resizing: .fit, box: (342, 0)), (342, 513)) }
    func testThatFitWithOnlyAHeightFollowsTheShape() { assert(scaling(2000, 3000, resizing: .fit, box: (0, 300)), (200, 300)) }
    func testThatNoBoxKeepsTheSize() { assert(scaling(20, 30, resizing: .fit, box: (0, 0)), (20, 30)) }
    func testThatFitDoesNotEnlarge() { assert(scaling(20, 30, resizing: .fit, box: (200, 200)), (20, 30)) }
    func testThatFitEnlargesWhereThatIsWanted() {
        assert(scaling(20, 30, resizing: .fit, box: (300, 300)) { $0.enlarges = true }, (200, 300))
    }
    func testThatFillCutsWhatStandsOut() {
        assert(scaling(2000, 3000, resizing: .fill, box: (300, 300)), (300, 450), cutTo: (300, 300))
    }
    func testThatFillOfASmallPictureCutsOnlyWhatStandsOut() {
        assert(scaling(200, 300, resizing: .fill, box: (250, 250)), (200, 300), cutTo: (200, 250))
    }
    func testThatFillDownShrinksTheBoxInItsShape() {
        assert(scaling(200, 300, resizing: .fillDown, box: (400, 400)), (200, 300), cutTo: (200, 200))
    }
    func testThatFillDownOfALargePictureFills() {
        assert(scaling(2000, 3000, resizing: .fillDown, box: (300, 300)), (300, 450), cutTo: (300, 300))
    }
    func testThatForceIgnoresTheShape() { assert(scaling(2000, 3000, resizing: .force, box: (300, 100)), (300, 100)) }
    func testThatForceWithOneSideKeepsTheOther() { assert(scaling(2000, 3000, resizing: .force, box: (300, 0)), (300, 3000)) }
    func testThatForceDoesNotEnlargeAndKeepsTheBoxesShape() {
        assert(scaling(100, 100, resizing: .force, box: (200, 5)), (100, 2))
    }
    func testThatAMinimumWidthWins() {
        assert(scaling(1000, 4000, resizing: .fit, box: (0, 400)) { $0.minWidth = 200 }, (200, 800), cutTo: (200, 400))
    }
    func testThatAMinimumHeightWins() {
        assert(scaling(4000, 1000, resizing: .fit, box: (400, 0)) { $0.minHeight = 200 }, (800, 200), cutTo: (400, 200))
    }
    func testThatAMinimumThatIsMetChangesNothing() {
        assert(scaling(1000, 1000, resizing: .fit, box: (400, 0)) { $0.minHeight = 200 }, (400, 400))
    }
    func testThatASideNeverVanishes() { assert(scaling(10_000, 3, resizing: .fit, box: (10, 0)), (10, 1)) }
}
