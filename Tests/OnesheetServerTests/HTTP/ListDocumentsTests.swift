import NIOCore
import OnesheetCore
import OnesheetPipeline
import XCTest

@testable import OnesheetServer

final class ListDocumentsTests: XCTestCase {
    private let page = TitlePage(titles: [Title(id: "é", name: "É")], total: 1)

    func testDocumentOfTheSameTitlesIsMadeOnce() throws {
        // Given a document of a list
        let documents = ListDocuments(keeping: 1 << 20)
        XCTAssertEqual(try documents.made(ListedTitles(page: page)), "1")
        // When the same titles are asked for, then it is not made again
        XCTAssertEqual(try documents.made(ListedTitles(page: page)), "1")
        // And it is for another name, a title that only Swift finds equal, another total, and other facts
        XCTAssertEqual(try documents.made(ListedTitles(page: page), named: "b", as: "2"), "2")
        let others = [
            ListedTitles(page: TitlePage(titles: [Title(id: "e\u{301}", name: "É")], total: 1)),
            ListedTitles(page: TitlePage(titles: page.titles, total: 2)),
            ListedTitles(page: page, facts: [nil]),
            ListedTitles(page: page, capabilities: SourceCapabilities()),
        ]
        for (number, other) in others.enumerated() {
            XCTAssertEqual(try documents.made(other, as: "3\(number)"), "3\(number)")
            XCTAssertEqual(try documents.made(other, as: "none"), "3\(number)")
        }
    }

    func testMakingADocumentIsAMissOfTheClient() throws {
        // Given a client that may cause no more work, and a document
        let documents = ListDocuments(keeping: 1 << 20)
        _ = try documents.made(ListedTitles(page: page))
        try WorkContext.with({ $0.countMiss = { () throws(Failure) in throw .tooManyRequests(retryAfter: 1) } }) {
            // When it asks for that, then it gets it
            XCTAssertEqual(try documents.made(ListedTitles(page: page), as: "2"), "1")
            // And no other one
            XCTAssertThrowsError(try documents.made(ListedTitles(page: page), named: "b"))
        }
    }

    func testDocumentsKeptHaveALimit() throws {
        // Given room for few documents
        let documents = ListDocuments(keeping: 1000)
        // When one is longer than half of it, then it is not kept
        let long = String(repeating: "x", count: 300)
        XCTAssertEqual(try documents.made(ListedTitles(page: page), as: long), long)
        XCTAssertEqual(try documents.made(ListedTitles(page: page), as: "2"), "2")
        // And many displace each other
        for number in 0..<1000 { _ = try documents.made(ListedTitles(page: page), named: "\(number)", as: "0") }
        let kept = try (0..<1000).reversed().count { try documents.made(ListedTitles(page: page), named: "\($0)", as: "1") == "0" }
        XCTAssertTrue((1...300).contains(kept), "\(kept)")
    }
}

extension ListDocuments {
    /// The document of `titles`, which is `text` if it is made now.
    fileprivate func made(_ titles: ListedTitles, named name: String = "a", as text: String = "1") throws -> String {
        String(buffer: try document(of: titles, named: name) { ByteBuffer(string: text) })
    }
}
