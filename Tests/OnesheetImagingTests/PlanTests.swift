import OnesheetCore
import XCTest

@testable import OnesheetImaging

final class PlanTests: XCTestCase {
    private func plan(
        _ width: Int, _ height: Int, orientation: Orientation = .up, changing change: (inout Transform) -> Void
    ) -> Plan {
        var transform = Transform()
        change(&transform)
        return Plan(transform, width: width, height: height, orientation: orientation)
    }

    func testThatTheBoxIsOfTheUprightPicture() {
        // Given, when
        let plan = plan(300, 200, orientation: .right) { $0.width = 100 }
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

    func testThatTheLargestSquareIsCutOutOfTheMiddleBeforeResizing() {
        let plan = plan(301, 200) { ($0.crop, $0.width) = (.square, 50) }
        XCTAssertEqual(plan.bounds, Rectangle((50, 0), Size(width: 200, height: 200)))
        XCTAssertEqual(plan.finalSize, Size(width: 50, height: 50))
        // It is the square of the upright picture.
        XCTAssertEqual(self.plan(200, 300, orientation: .right) { $0.crop = .square }.finalSize, Size(width: 200, height: 200))
    }

    func testThatNoSideIsLongerThanAllowed() {
        // Given plans with and without a picture that is cut, a canvas, and padding
        for (name, change, expected) in [
            ("fit", { $0.width = 200 }, (67, 100)), ("none", { _ in }, (66, 100)), ("small", { $0.width = 50 }, (50, 75)),
            ("fill", { ($0.resizing, $0.width, $0.height) = (.fill, 200, 100) }, (100, 50)),
            ("cover", { ($0.resizing, $0.width, $0.height) = (.cover, 150, 150) }, (66, 100)),
            ("extend", { ($0.width, $0.height, $0.extends) = (200, 200, .center) }, (100, 100)),
            (
                "padding",
                { ($0.width, $0.padding) = (100, .init(top: 25, right: 50, bottom: 25, left: 50)) }, (100, 100)
            ),
            ("turned", { $0.rotation = 90 }, (100, 66)),
        ] as [(String, (inout Transform) -> Void, (Int, Int))] {
            // When a side may have 100 pixels
            let plan = plan(200, 300) {
                change(&$0)
                $0.maxResultSide = 100
            }
            // Then the longest side has as many, and the other in proportion
            XCTAssertEqual(Double(plan.finalSize.width), Double(expected.0), accuracy: 1, name)
            XCTAssertEqual(Double(plan.finalSize.height), Double(expected.1), accuracy: 1, name)
            XCTAssertLessThanOrEqual(max(plan.finalSize.width, plan.finalSize.height), 100, name)
        }
    }

    func testThatReducingKeepsThePartOfThePicture() {
        // Given a plan that cuts out the left half
        func change(_ transform: inout Transform) {
            (transform.resizing, transform.width, transform.height) = (.fill, 100, 300)
            transform.gravity = .compass(x: -1, y: 0)
        }
        let whole = plan(200, 300, changing: change)
        // When it is reduced
        let reduced = plan(200, 300) {
            change(&$0)
            $0.maxResultSide = 60
        }
        // Then it shows the same
        XCTAssertEqual(reduced.finalSize, Size(width: 20, height: 60))
        XCTAssertEqual(reduced.region, whole.region)
    }

    func testThatSumsOfSidesAreNeverTooLong() {
        for limit in 1...400 {
            let plan = plan(333, 217) {
                ($0.width, $0.padding, $0.maxResultSide) = (251, .init(top: 3, right: 7, bottom: 11, left: 13), limit)
                ($0.height, $0.extendsProportions) = (97, .center)
            }
            XCTAssertLessThanOrEqual(max(plan.finalSize.width, plan.finalSize.height), limit)
        }
    }

    func testThatSidesAreCutOffTheUprightPicture() {
        let insets = Transform.Padding(top: 10, right: 20, bottom: 30, left: 40)
        let plan = plan(200, 300) { $0.crop = .inset(insets) }
        XCTAssertEqual(plan.bounds, Rectangle((40, 10), Size(width: 140, height: 260)))
        XCTAssertEqual(
            self.plan(300, 200, orientation: .right) { $0.crop = .inset(insets) }.finalSize, Size(width: 140, height: 260))
        // Nothing is left of a small picture.
        var transform = Transform()
        transform.crop = .inset(insets)
        XCTAssertFalse(Plan.isBeside(transform, Size(width: 61, height: 41)))
        XCTAssertTrue(Plan.isBeside(transform, Size(width: 60, height: 41)))
        XCTAssertTrue(Plan.isBeside(transform, Size(width: 61, height: 40)))
    }

    func testThatAutoFillsWhereBothStandAlikeAndFitsOtherwise() {
        func size(_ width: Int, _ height: Int) -> Size {
            plan(200, 300) { ($0.resizing, $0.width, $0.height) = (.auto, width, height) }.finalSize
        }
        XCTAssertEqual(size(100, 120), Size(width: 100, height: 120))
        XCTAssertEqual(size(120, 90), Size(width: 60, height: 90))
        XCTAssertEqual(
            plan(200, 200) { ($0.resizing, $0.width, $0.height) = (.auto, 100, 50) }.finalSize, Size(width: 100, height: 50))
    }

    func testThatCoverIsTheSmallestSizeAroundTheBox() {
        XCTAssertEqual(
            plan(200, 300) { ($0.resizing, $0.width, $0.height) = (.cover, 100, 100) }.finalSize, Size(width: 100, height: 150))
        XCTAssertEqual(
            plan(200, 300) { ($0.resizing, $0.width, $0.height) = (.cover, 400, 900) }.finalSize, Size(width: 200, height: 300))
    }

    func testThatACanvasTakesTheBoxesProportions() {
        // Given pictures that are too wide and too high for two to three
        for (width, height, canvas, x, y) in [
            (300, 300, Size(width: 100, height: 150), 0, 25), (100, 300, Size(width: 100, height: 150), 25, 0),
        ] {
            let plan = plan(width, height) {
                ($0.width, $0.height, $0.extendsProportions) = (100, 150, .center)
            }
            XCTAssertEqual(plan.canvas, Plan.Canvas(size: canvas, x: x, y: y))
        }
        // And one that is smaller than the box keeps its size
        let small = plan(40, 40) { ($0.width, $0.height, $0.extendsProportions) = (100, 150, .compass(x: 0, y: 1)) }
        XCTAssertEqual(small.canvas, Plan.Canvas(size: Size(width: 40, height: 60), x: 0, y: 20))
    }

    func testThatOffsetsMoveAwayFromTheirSide() {
        func x(_ gravity: Gravity) -> [Double] {
            let region = plan(100, 60) { ($0.resizing, $0.width, $0.height, $0.gravity) = (.fill, 20, 60, gravity) }.region
            return [region.x, region.y]
        }
        XCTAssertEqual(x(.offset(x: -1, y: 0, across: 10, down: 0)), [10, 0])
        XCTAssertEqual(x(.offset(x: 1, y: 0, across: 10, down: 0)), [70, 0])
        XCTAssertEqual(x(.offset(x: 0, y: 0, across: -10, down: 0)), [30, 0])
        XCTAssertEqual(x(.offset(x: -1, y: 0, across: 0.25, down: 0)), [25, 0])
        // No part lies outside of the picture.
        XCTAssertEqual(x(.offset(x: 1, y: 0, across: 99, down: 0)), [0, 0])
        XCTAssertEqual(x(.offset(x: 1, y: 0, across: -99, down: .nan)), [80, 0])
    }

    func testThatAPointInPixelsIsKept() {
        func region(_ change: (inout Transform) -> Void) -> Rectangle {
            plan(100, 100) {
                ($0.resizing, $0.width, $0.height, $0.gravity) = (.fill, 20, 40, .point(x: 70, y: 10))
                change(&$0)
            }.region
        }
        XCTAssertEqual(region { _ in }, Rectangle(x: 45, y: 0, width: 50, height: 100))
        // Also if the picture is turned and flipped before it is resized, or a part was cut out
        XCTAssertEqual(region { $0.rotation = 90 }, Rectangle(x: 0, y: 0, width: 100, height: 50))
        XCTAssertEqual(region { $0.flipsHorizontally = true }, Rectangle(x: 45, y: 0, width: 50, height: 100))
        XCTAssertEqual(
            region { $0.crop = .init(width: 60, height: 60, gravity: .corner(x: 40, y: 0)) },
            Rectangle(x: 55, y: 0, width: 30, height: 60))
    }

    func testThatZoomMultipliesTheSize() {
        XCTAssertEqual(plan(200, 300) { ($0.zoomX, $0.zoomY) = (0.5, 0.5) }.finalSize, Size(width: 100, height: 150))
        XCTAssertEqual(plan(200, 300) { ($0.width, $0.zoomX, $0.zoomY) = (50, 2, 2) }.finalSize, Size(width: 100, height: 150))
        XCTAssertEqual(plan(200, 300) { ($0.zoomX, $0.zoomY) = (0.5, 1) }.finalSize, Size(width: 100, height: 300))
        XCTAssertEqual(plan(20, 30) { ($0.zoomX, $0.zoomY) = (2, 2) }.finalSize, Size(width: 20, height: 30), "nothing is enlarged")
    }

    func testThatThePictureStaysAsStoredOnRequest() {
        let plan = plan(300, 200, orientation: .right) { ($0.width, $0.appliesOrientation) = (150, false) }
        XCTAssertEqual(plan.finalSize, Size(width: 150, height: 100))
        XCTAssertEqual(plan.turn, .none)
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
        let plan = plan(100, 60, orientation: .right) { $0.crop = .init(width: 20, height: 40, gravity: .corner(x: 5, y: 10)) }
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
            plan(100, 60, orientation: .right) { $0.crop = .init(width: 20, height: 40, gravity: .compass(x: -1, y: -1)) }.region,
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
