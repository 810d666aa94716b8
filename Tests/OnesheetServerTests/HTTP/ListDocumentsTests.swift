import NIOCore
import OnesheetCore
import OnesheetPipeline
import XCTest

@testable import OnesheetServer

final class ListDocumentsTests: XCTestCase {
    private let page = TitlePage(titles: [Title(id: "é", name: "É")], total: 1)

    func testDocumentOfTheSameTitlesIsMadeOnce() async throws {
        // Given a document of a list
        let documents = ListDocuments(keeping: 1 << 20)
        try await documents.assertMade(ListedTitles(page: page), is: "1")
        // When the same titles are asked for, then it is not made again
        try await documents.assertMade(ListedTitles(page: page), as: "2", is: "1")
        // And it is for another name, a title that only Swift finds equal, and another total
        try await documents.assertMade(ListedTitles(page: page), named: "b", as: "2", is: "2")
        let others = [
            ListedTitles(page: TitlePage(titles: [Title(id: "e\u{301}", name: "É")], total: 1)),
            ListedTitles(page: TitlePage(titles: page.titles, total: 2)),
            ListedTitles(page: page, capabilities: SourceCapabilities()),
        ]
        for (number, other) in others.enumerated() {
            try await documents.assertMade(other, as: "3\(number)", is: "3\(number)")
            try await documents.assertMade(other, as: "none", is: "3\(number)")
        }
    }

    func testMakingADocumentIsAMissOfTheClient() async throws {
        // Given a client that may cause no more work, and a document
        let documents = ListDocuments(keeping: 1 << 20)
        try await documents.assertMade(ListedTitles(page: page), is: "1")
        try await WorkContext.with({ $0.countMiss = { () throws(Failure) in throw .tooManyRequests(retryAfter: 1) } }) {
            // When it asks for that, then it gets it
            try await documents.assertMade(ListedTitles(page: page), as: "2", is: "1")
            // And no other one
            do {
                try await documents.assertMade(ListedTitles(page: page), named: "b", is: "1")
                XCTFail("it is made")
            } catch {
                XCTAssertEqual(error as? Failure, .tooManyRequests(retryAfter: 1))
            }
        }
    }

    func testDocumentsKeptHaveALimit() async throws {
        // Given room for few documents
        let documents = ListDocuments(keeping: 1000)
        // When one is longer than half of it, then it is not kept
        let long = String(repeating: "x", count: 300)
        try await documents.assertMade(ListedTitles(page: page), as: long, is: long)
        try await documents.assertMade(ListedTitles(page: page), as: "2", is: "2")
        // And many displace each other
        for number in 0..<1000 { try await documents.assertMade(ListedTitles(page: page), named: "\(number)", as: "0", is: "0") }
        var kept = 0
        for number in (0..<1000).reversed() {
            if try await documents.made(ListedTitles(page: page), named: "\(number)", as: "1") == "0" { kept += 1 }
        }
        XCTAssertTrue((1...300).contains(kept), "\(kept)")
    }
}

extension ListDocuments {
    /// The document of `titles`, which is `text` if it is made now.
    fileprivate func made(
        _ titles: ListedTitles, named name: String = "a", as text: String = "1"
    ) async throws -> String {
        String(buffer: try await document(of: titles, named: name) { _ in ByteBuffer(string: text) })
    }

    fileprivate func assertMade(
        _ titles: ListedTitles, named name: String = "a", as text: String = "1", is expected: String,
        line: UInt = #line
    ) async throws {
        let made = try await made(titles, named: name, as: text)
        XCTAssertEqual(made, expected, line: line)
    }
}
