public import OnesheetCore
internal import XCTest

/// The difference between two pictures of one layout.
public struct PictureDifference: Sendable, CustomStringConvertible {
    /// The reason for which they cannot be compared; `nil` if they can.
    public let obstacle: String?
    /// The root mean square of the differences of the samples in levels of 255, for each plane.
    public let rootMeanSquare: [Double]
    /// The largest difference and its position.
    public let largest: Int
    public let place: (plane: Int, x: Int, y: Int)

    public init(_ left: borrowing PixelBuffer, _ right: borrowing PixelBuffer) {
        guard left.layout == right.layout else {
            obstacle = "\(Self.name(left.layout)) and \(Self.name(right.layout))"
            rootMeanSquare = []
            largest = 255
            place = (0, 0, 0)
            return
        }
        obstacle = nil
        var squares: [Double] = []
        var (worst, spot) = (0, (plane: 0, x: 0, y: 0))
        for (index, plane) in left.layout.planes.enumerated() {
            let (leftStride, rightStride) = (left.stride(of: index), right.stride(of: index))
            var sum = 0
            left.withPlane(index) { a in
                right.withPlane(index) { b in
                    for y in 0..<plane.height {
                        for x in 0..<plane.width * plane.channels {
                            let difference = abs(Int(a[y * leftStride + x]) - Int(b[y * rightStride + x]))
                            sum += difference * difference
                            if difference > worst { (worst, spot) = (difference, (index, x / plane.channels, y)) }
                        }
                    }
                }
            }
            squares.append((Double(sum) / Double(plane.width * plane.height * plane.channels)).squareRoot())
        }
        rootMeanSquare = squares
        largest = worst
        place = spot
    }

    private static func name(_ layout: PixelLayout) -> String {
        "\(layout.width) × \(layout.height) \(layout.model)" + (layout.hasAlpha ? " with alpha" : "")
            + (layout.isPlanar ? " in planes \(layout.subsampling)" : "")
    }

    public var description: String {
        obstacle
            ?? "\(rootMeanSquare.map { "\(($0 * 1000).rounded() / 1000)" }.joined(separator: ", ")) levels apart (root mean square of each "
            + "plane), at most \(largest), at \(place.x), \(place.y) of plane \(place.plane)"
    }
}

/// Asserts that two pictures have the same layout and that the samples of each plane differ by at most `tolerance` levels of 255
/// (root mean square). A failure reports the difference and the position of its maximum.
public func assertImagesSimilar(
    _ left: borrowing PixelBuffer, _ right: borrowing PixelBuffer, within tolerance: Double, message: String = "",
    file: StaticString = #filePath, line: UInt = #line
) {
    let difference = PictureDifference(left, right)
    let isSimilar = difference.obstacle == nil && difference.rootMeanSquare.allSatisfy { $0 <= tolerance }
    XCTAssertTrue(isSimilar, "\(message) \(difference); allowed: \(tolerance)", file: file, line: line)
}
