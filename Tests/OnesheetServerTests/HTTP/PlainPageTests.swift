import OnesheetCore
import XCTest

@testable import OnesheetServer

final class PlainPageTests: XCTestCase {
    func testThatThePageOfAListTakesNoMoreMemoryThanIsReserved() {
        // Given titles whose ids and names take the most room in a page
        var title = Title(id: String(repeating: "가", count: 2000), name: String(repeating: "&", count: 3000))
        title.originalName = String(repeating: "\"", count: 3000)
        let view = PlainPage.View.titles(
            TitlePage(titles: [Title](repeating: title, count: 20), total: nil, next: nil), TitleQuery())
        // When the page is made
        let page = PlainPage(
            sources: ["films"], source: "films", capabilities: SourceCapabilities(), words: PlainWords(acceptLanguage: nil),
            view: view)
        // Then as text it takes a quarter of that
        XCTAssertGreaterThan(page.html.utf8.count, 20 * 2 * (2000 * 9 + 3000 * 5) / 2)
        XCTAssertLessThan(page.html.utf8.count, view.memory / 4 + 4000)
    }

    func testTitleHasItsIDsAndTheAttributionOfItsServices() {
        // Given
        var title = Title(id: "550", name: "Film", ids: ["tmdb": "550", "imdb": "tt0137523"])
        title.metadata["attribution"] = "Data by <A>"
        // When
        let page = PlainPage(
            sources: ["films"], source: "films", capabilities: SourceCapabilities(), words: PlainWords(acceptLanguage: nil),
            view: .title(title))
        // Then
        XCTAssertTrue(page.html.contains("<dt>Ids</dt><dd>imdb:tt0137523 tmdb:550</dd>"), page.html)
        XCTAssertTrue(page.html.contains("<dt>Data</dt><dd>Data by &lt;A&gt;</dd>"), page.html)
    }
}
