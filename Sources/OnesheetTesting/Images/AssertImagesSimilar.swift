public import OnesheetCore
internal import XCTest

/// Asserts that two pictures have the same layout and that the samples of each plane differ by at most `tolerance` levels of 255
/// (root mean square). A failure reports the difference and the position of its maximum.
public func assertImagesSimilar(
    _ left: borrowing PixelBuffer, _ right: borrowing PixelBuffer, within tolerance: Double, _ message: String = "",
    file: StaticString = #filePath, line: UInt = #line
) {
    let difference = PictureDifference(left, right)
    let isSimilar = difference.obstacle == nil && difference.rootMeanSquare.allSatisfy { $0 <= tolerance }
    XCTAssertTrue(isSimilar, "\(message) \(difference); allowed: \(tolerance)", file: file, line: line)
}
