import XCTest

@testable import OnesheetCore

final class PosterScoreTests: XCTestCase {
    private let scoring = PosterScore()

    private func hit(_ width: Int?, _ height: Int?, kind: String? = "blog", site: String? = nil, url: String = "u")
        -> PosterScore.Hit
    {
        (PosterCandidate(.http(url: url), width: width, height: height, site: site), kind)
    }

    func testThatShapesFallOffOnBothSides() {
        // Given shapes from a strip through the poster to a banner
        let documents = [(300, 900), (540, 960), (633, 909), (700, 800), (800, 800), (1280, 720)].map {
            hit($0.0, $0.1)
        }

        // When
        let scores = documents.map { scoring.shape($0.candidate) }

        // Then
        XCTAssertEqual(scores[2], 1)
        XCTAssertLessThan(scores[0], scores[1])
        XCTAssertLessThan(scores[1], scores[2])
        XCTAssertGreaterThan(scores[2], scores[3])
        XCTAssertGreaterThan(scores[3], scores[4])
        XCTAssertGreaterThan(scores[4], scores[5])
    }

    func testThatUnknownShapesRankBelowPostersAndAboveBanners() {
        // Given
        let (unknown, poster, banner) = (hit(nil, nil), hit(600, 900), hit(1600, 400))

        // When
        let scores = [poster, unknown, banner].map { scoring.score($0.candidate) }

        // Then
        XCTAssertEqual(scores, scores.sorted(by: >))
        XCTAssertEqual(Set(scores).count, 3)
    }

    func testThatLargerIsBetterUpToWhatIsEnough() {
        // Given
        let sizes = [(100, 150), (300, 450), (600, 900), (2000, 3000)].map { hit($0.0, $0.1) }

        // When
        let scores = sizes.map { scoring.size($0.candidate) }

        // Then
        XCTAssertLessThan(scores[0], scores[1])
        XCTAssertLessThan(scores[1], scores[2])
        XCTAssertEqual(scores[2], scores[3])
    }

    func testThatFilmPagesComeBeforeBlogsAndBlogsBeforeNews() {
        // Given
        let documents = [hit(600, 900, kind: "news"), hit(600, 900, kind: "etc"), hit(600, 900, kind: "news", site: "Daum영화")]

        // When
        let scores = documents.map(scoring.site)

        // Then
        XCTAssertLessThan(scores[0], scores[1])
        XCTAssertLessThan(scores[1], scores[2])
    }

    func testThatEqualsKeepTheServicesOrderAndDoublesGo() {
        // Given
        let documents = ["a", "b", "a", "c"].map { hit(600, 900, url: $0) }

        // When
        let ranked = scoring.ranked(documents)

        // Then
        XCTAssertEqual(ranked.map(\.location.name), ["a", "b", "c"])
        XCTAssertEqual(ranked.compactMap(\.trust).count, 3)
        XCTAssertEqual(ranked.compactMap(\.trust), ranked.compactMap(\.trust).sorted(by: >))
    }
}
