public import OnesheetCore
internal import XCTest

/// Asserts that two pictures have the same layout and, in every plane, samples that differ by no more than `tolerance` levels of 255
/// (root mean square). A failure says by how much, and where the most.
public func assertImagesSimilar(
    _ left: borrowing PixelBuffer, _ right: borrowing PixelBuffer, within tolerance: Double, _ message: String = "",
    file: StaticString = #filePath, line: UInt = #line
) {
    let difference = PictureDifference(left, right)
    let isSimilar = difference.obstacle == nil && difference.rootMeanSquare.allSatisfy { $0 <= tolerance }
    XCTAssertTrue(isSimilar, "\(message) \(difference); allowed: \(tolerance)", file: file, line: line)
}
