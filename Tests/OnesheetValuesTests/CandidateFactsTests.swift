import Foundation
import OnesheetValues
import XCTest

final class CandidateFactsTests: XCTestCase {
    private func facts(_ json: String) throws -> CandidateFacts {
        try JSONDecoder().decode(CandidateFacts.self, from: Data(json.utf8))
    }

    func testFactsSurviveTheirJSON() throws {
        // Given
        var facts = CandidateFacts()
        (facts.kind, facts.language, facts.votes, facts.voteCount) = (.logo, LanguageTag("pt-BR"), 7.5, 12)
        (facts.width, facts.height, facts.site, facts.page) = (2, 3, "s", "p")
        facts.published = Date(timeIntervalSinceReferenceDate: 1)
        // When
        let copy = try JSONDecoder().decode(CandidateFacts.self, from: JSONEncoder().encode(facts))
        // Then
        XCTAssertEqual(copy, facts)
    }

    func testWrongValueIsLostAndTheImageStays() throws {
        // Given wrong values
        let facts = try facts(#"{"kind":"painting","language":"English (US)","votes":11,"count":-1,"width":2}"#)
        // Then the rest is there, and the values are told
        XCTAssertEqual(facts.kind, .poster)
        XCTAssertEqual(facts.language, .undetermined)
        XCTAssertNil(facts.votes)
        XCTAssertNil(facts.voteCount)
        XCTAssertEqual(facts.width, 2)
        XCTAssertEqual(facts.unreadable.count, 4)
    }

    func testImageWithAnUnreadableSizeStays() throws {
        for width in ["\"1000px\"", "1.5", "1e30", "true", "9223372036854775808"] {
            let facts = try facts("{\"width\":\(width),\"height\":3}")
            XCTAssertNil(facts.width, width)
            XCTAssertEqual(facts.height, 3, width)
            XCTAssertEqual(facts.unreadable.count, 1, width)
        }
        // A service that does not know the size writes 0
        let unknown = try facts(#"{"width":0,"height":"300"}"#)
        XCTAssertNil(unknown.width)
        XCTAssertEqual(unknown.height, 300)
        XCTAssertEqual(unknown.unreadable, [])
    }

    func testDatabasesWriteNumbersAndNoLanguageInTheirOwnWay() throws {
        // Given
        let facts = try facts(#"{"language":"xx","votes":"5.31","count":"7"}"#)
        // Then
        XCTAssertNil(facts.language)
        XCTAssertEqual(facts.votes, 5.31)
        XCTAssertEqual(facts.voteCount, 7)
        XCTAssertEqual(facts.unreadable, [])
    }
}
