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
