import OnesheetCore
import XCTest

@testable import OnesheetImaging

final class PlanTests: XCTestCase {
    private func plan(
        _ width: Int, _ height: Int, _ orientation: Orientation = .up, _ change: (inout Transform) -> Void
    ) -> Plan {
        var transform = Transform()
        change(&transform)
        return Plan(transform, width: width, height: height, orientation: orientation)
    }

    func testThatTheBoxIsOfTheUprightPicture() {
        // Given, when
        let plan = plan(300, 200, .right) { $0.width = 100 }
        // Then
        XCTAssertEqual(plan.finalSize, Size(width: 100, height: 150))
        XCTAssertEqual(plan.size, Size(width: 150, height: 100), "as stored")
    }

    func testThatTheBoxIsOfTheRotatedPicture() {
        XCTAssertEqual(
            plan(300, 200) {
                $0.rotation = 90
                $0.width = 100
            }.finalSize, Size(width: 100, height: 150))
    }

    func testThatACropInPixelsIsTakenFromTheMiddle() {
        XCTAssertEqual(
            plan(100, 60) { $0.crop = .init(width: 40, height: 20) }.region, Rectangle(x: 30, y: 20, width: 40, height: 20))
    }

    func testThatACropFromACornerEndsWhereThePictureDoes() {
        func region(_ x: Int, _ y: Int) -> Rectangle {
            plan(100, 60) { $0.crop = .init(width: 40, height: 20, gravity: .corner(x: x, y: y)) }.region
        }
        XCTAssertEqual(region(10, 5), Rectangle(x: 10, y: 5, width: 40, height: 20))
        XCTAssertEqual(region(90, 50), Rectangle(x: 90, y: 50, width: 10, height: 10))
        XCTAssertEqual(region(100, .max), Rectangle(x: 99, y: 59, width: 1, height: 1))
    }

    func testThatACropFromACornerIsOfTheUprightPicture() {
        // Stored on its side: the upper left corner of the view is the lower left of the file.
        let plan = plan(100, 60, .right) { $0.crop = .init(width: 20, height: 40, gravity: .corner(x: 5, y: 10)) }
        XCTAssertEqual(plan.finalSize, Size(width: 20, height: 40))
        XCTAssertEqual(plan.region, Rectangle(x: 10, y: 35, width: 40, height: 20))
    }

    func testThatACropInSharesIsOfThePicture() {
        XCTAssertEqual(
            plan(100, 60) { $0.crop = .init(width: 0.5, height: 0) }.region, Rectangle(x: 25, y: 0, width: 50, height: 60))
    }

    func testThatACropHasItsOwnGravity() {
        XCTAssertEqual(
            plan(100, 60) {
                $0.crop = .init(width: 40, height: 20, gravity: .compass(x: 1, y: -1))
                $0.gravity = .compass(x: -1, y: 1)
            }.region, Rectangle(x: 60, y: 0, width: 40, height: 20))
    }

    func testThatACropLargerThanThePictureIsThePicture() {
        XCTAssertEqual(
            plan(100, 60) { $0.crop = .init(width: 400, height: 400) }.region, Rectangle(x: 0, y: 0, width: 100, height: 60))
    }

    func testThatACropOfATurnedPictureLiesInTheStoredOne() {
        // Upright it is 60 wide and 100 high; its upper left corner is stored at the lower left.
        XCTAssertEqual(
            plan(100, 60, .right) { $0.crop = .init(width: 20, height: 40, gravity: .compass(x: -1, y: -1)) }.region,
            Rectangle(x: 0, y: 40, width: 40, height: 20))
    }

    func testThatFillCutsAtTheFocus() {
        let plan = plan(100, 50) {
            $0.resizing = .fill
            ($0.width, $0.height) = (25, 25)
            $0.gravity = .focus(x: 0.9, y: 0.5)
        }
        XCTAssertEqual(plan.region, Rectangle(x: 50, y: 0, width: 50, height: 50))
    }

    func testThatExtendingPlacesThePictureInTheBox() {
        let plan = plan(100, 50) {
            ($0.width, $0.height) = (50, 50)
            $0.extends = .compass(x: 0, y: 1)
        }
        XCTAssertEqual(plan.canvas, .init(size: Size(width: 50, height: 50), x: 0, y: 25))
    }

    func testThatExtendingAPictureThatFillsTheBoxAddsNothing() {
        XCTAssertNil(
            plan(100, 50) {
                ($0.width, $0.height) = (50, 25)
                $0.extends = .center
            }.canvas)
    }

    func testThatPaddingIsAroundTheBox() {
        let plan = plan(100, 50) {
            $0.width = 50
            $0.padding = .init(top: 1, right: 2, bottom: 3, left: 4)
        }
        XCTAssertEqual(plan.canvas, .init(size: Size(width: 56, height: 29), x: 4, y: 1))
    }

    func testThatAFocusOutsideOfThePictureIsAtItsEdgeOrTheMiddle() {
        for (focus, x) in [(7.0, 50.0), (-1, 0), (.nan, 26)] {
            let plan = plan(100, 50) {
                $0.resizing = .fill
                ($0.width, $0.height) = (25, 25)
                $0.gravity = .focus(x: focus, y: 0)
            }
            XCTAssertEqual(plan.region.x, x)
        }
    }
}
