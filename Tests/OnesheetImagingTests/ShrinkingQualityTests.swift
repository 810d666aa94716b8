import Foundation
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

/// What the codec delivers for a target beside what libjpeg-turbo delivers at twice the target. Both are resampled in floating
/// point and encoded at the default quality, as variants are.
final class ShrinkingQualityTests: XCTestCase {
    private let codec = JPEGCodec()

    private func resampled(_ bytes: [UInt8], _ request: DecodeRequest, to size: (Int, Int)) throws -> [Double] {
        let picture = try codec.picture(bytes, request)
        let (width, height) = (picture.layout.width, picture.layout.height)
        var luma = try PixelBuffer(PixelLayout(width: width, height: height, model: .gray), limits: Limits())
        for y in 0..<height {
            picture.withRow(y) { from in
                luma.withMutableRow(y) { to in for x in 0..<width { to[x] = from[x] } }
            }
        }
        let reference = ReferenceResampling(
            region: (0, 0, picture.layout.exactWidth, picture.layout.exactHeight), width: size.0, height: size.1)
        return reference.resample(luma)
    }

    /// The peak signal-to-noise ratio of the samples in dB, once they are encoded.
    private func fidelity(_ samples: [Double], _ expected: [Double], size: (Int, Int)) throws -> Double {
        var gray = try PixelBuffer(PixelLayout(width: size.0, height: size.1, model: .gray), limits: Limits())
        for y in 0..<size.1 {
            gray.withMutableRow(y) { row in for x in 0..<size.0 { row[x] = UInt8(samples[y * size.0 + x].rounded()) } }
        }
        let body = try codec.encode(gray, EncodeOptions())
        let encoded = try codec.picture(Array(body.readableBytesView))
        var squares = 0.0
        for y in 0..<size.1 {
            encoded.withRow(y) { row in
                for x in 0..<size.0 {
                    let difference = Double(row[x]) - expected[y * size.0 + x]
                    squares += difference * difference
                }
            }
        }
        return 10 * log10(255 * 255 * Double(expected.count) / squares)
    }

    func testThatShrinkingIsAsFaithfulAsTheLibrary() throws {
        // Sizes for corners of 1 to 7 coefficients, each at about the least number of samples for it, and above that.
        var losses: [Double] = []
        for (width, height, target) in [
            (400, 300, 24), (400, 300, 20), (400, 300, 51), (400, 300, 93), (400, 300, 100), (300, 200, 76), (300, 200, 60),
            (300, 200, 102),
            (301, 203, 80), (400, 300, 172), (400, 300, 156), (400, 300, 214), (300, 200, 201), (300, 200, 230),
        ] {
            // Given
            let bytes = try DrawnPoster(width: width, height: height).file(codec, planes: (2, 2))
            let size = (target, Int((Double(height) * Double(target) / Double(width)).rounded()))
            let full = try resampled(bytes, DecodeRequest(acceptsPlanar: true), to: size)
            // When
            var request = DecodeRequest(minimumWidth: 2 * size.0, minimumHeight: 2 * size.1, acceptsPlanar: true)
            let library = try resampled(bytes, request, to: size)
            request.target = DecodeRequest.Target(width: Double(size.0), height: Double(size.1), chroma: 2)
            let ours = try resampled(bytes, request, to: size)
            // Then
            let (usual, shrunk) = (try fidelity(library, full, size: size), try fidelity(ours, full, size: size))
            let loss = usual - shrunk
            XCTAssertLessThan(loss, 0.3, "\(width) × \(height) to \(target)")
            losses.append(loss)
        }
        XCTAssertLessThan(losses.reduce(0, +) / Double(losses.count), 0.15, "\(losses)")
    }
}
