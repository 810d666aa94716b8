import OnesheetValues
import XCTest

final class LanguageListTests: XCTestCase {
    func testListHasOneSpelling() throws {
        XCTAssertEqual(try LanguageList("KO,Original,en-us,none,ko").description, "ko.original.en-US.none")
    }

    func testInvalidLanguagesAreRefused() {
        let many = (0..<17).map { "en-x-a\($0)" }.joined(separator: ".")
        for text in ["", "ko.", "ko..en", "korean language", "any!", "xx", "zxx", "und", "english", many] {
            XCTAssertThrowsError(try LanguageList(text), text) { error in
                guard case RequestError.malformed = error else { return XCTFail("\(error)") }
            }
        }
    }

    func testEachLanguageHasThePlaceOfTheFirstEntryThatItServes() throws {
        // Given
        let cases: [(list: String, original: String?, order: [String?])] = [
            ("ko.original.en.none", "fr", ["ko", "fr", "fr-CA", "en-US", nil]),
            ("pt-BR.en", nil, ["pt-BR", "pt", "pt-PT", "en"]),
            ("pt-BR.en.pt-PT", nil, ["pt-BR", "pt", "en", "pt-PT"]),
            ("zh-Hans.en", nil, ["zh-CN", "zh", "en", "zh-TW"]),
            ("none.en", nil, [nil, "en", "ko"]),
            ("original.en", nil, ["en", "ko"]),
        ]
        for (text, original, order) in cases {
            let list = try LanguageList(text)
            // When
            let places = order.map { list.place(of: $0.flatMap(LanguageTag.init), original: original.flatMap(LanguageTag.init)) }
            // Then they do not get better, and what follows an entry's exact language is worse
            XCTAssertEqual(places, places.sorted(), text)
        }
        let list = try LanguageList("zh-Hans.en")
        XCTAssertEqual(list.place(of: LanguageTag("zh-TW"), original: nil).index, 2)
    }
}
