import FoundationEssentials
@testable import KakaoSource
import XCTest

final class PosterLikenessTests: XCTestCase {
    private let likeness = PosterLikeness()

    private func document(_ width: Int?, _ height: Int?, _ collection: String = "blog", site: String? = nil, url: String = "u") throws -> KakaoDocument {
        var document = try JSONDecoder().decode(KakaoDocument.self, from: Data(#"{"image_url":"\#(url)"}"#.utf8))
        (document.width, document.height, document.collection, document.siteName) = (width, height, collection, site)
        return document
    }

    func testThatShapesFallOffOnBothSides() throws {
        // Given: from a strip through the poster to a banner
        let documents = try [(300, 900), (540, 960), (633, 909), (700, 800), (800, 800), (1280, 720)].map { try document($0.0, $0.1) }

        // When
        let scores = documents.map(likeness.shape)

        // Then
        XCTAssertEqual(scores[2], 1)
        XCTAssertLessThan(scores[0], scores[1])
        XCTAssertLessThan(scores[1], scores[2])
        XCTAssertGreaterThan(scores[2], scores[3])
        XCTAssertGreaterThan(scores[3], scores[4])
        XCTAssertGreaterThan(scores[4], scores[5])
    }

    func testThatUnknownShapesRankBelowPostersAndAboveBanners() throws {
        // Given
        let (unknown, poster, banner) = (try document(nil, nil), try document(600, 900), try document(1600, 400))

        // When
        let scores = [poster, unknown, banner].map { likeness.score($0, position: 0) }

        // Then
        XCTAssertEqual(scores, scores.sorted(by: >))
        XCTAssertEqual(Set(scores).count, 3)
    }

    func testThatLargerIsBetterUpToWhatIsEnough() throws {
        // Given
        let sizes = try [(100, 150), (300, 450), (600, 900), (2000, 3000)].map { try document($0.0, $0.1) }

        // When
        let scores = sizes.map(likeness.size)

        // Then
        XCTAssertLessThan(scores[0], scores[1])
        XCTAssertLessThan(scores[1], scores[2])
        XCTAssertEqual(scores[2], scores[3])
    }

    func testThatFilmPagesComeBeforeBlogsAndBlogsBeforeNews() throws {
        // Given
        let documents = try [document(600, 900, "news"), document(600, 900, "etc"), document(600, 900, "news", site: "Daum영화")]

        // When
        let scores = documents.map(likeness.site)

        // Then
        XCTAssertLessThan(scores[0], scores[1])
        XCTAssertLessThan(scores[1], scores[2])
    }

    func testThatEqualsKeepTheServicesOrderAndDoublesGo() throws {
        // Given
        let documents = try ["a", "b", "a", "c"].map { try document(600, 900, url: $0) }

        // When
        let ranked = likeness.ranked(documents).map(\.imageURL)

        // Then
        XCTAssertEqual(ranked, ["a", "b", "c"])
    }
}
