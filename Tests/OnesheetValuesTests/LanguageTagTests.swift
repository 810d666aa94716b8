import OnesheetValues
import XCTest

final class LanguageTagTests: XCTestCase {
    func testTagHasOneSpelling() {
        // Given
        let cases: [(String, String?)] = [
            ("ko", "ko"), ("PT-br", "pt-BR"), ("zh-hant-tw", "zh-Hant-TW"), ("es-419", "es-419"), ("eng", "en"), ("fre", "fr"),
            ("fra", "fr"), ("iw", "he"), ("zh-yue", "yue"), ("de-1996", "de-1996"), ("sl-IT-nedis", "sl-IT-nedis"),
            ("en-a-bbb-x-1", "en-a-bbb-x-1"), ("haw", "haw"), ("", nil), ("e", nil), ("en-", nil), ("-en", nil), ("en us", nil),
            ("e1", nil), ("x-private", nil), ("i-klingon", nil), ("ko-", nil), ("ko-a", nil), ("한국어", nil), ("pt_BR", nil),
            (String(repeating: "a", count: 36), nil), ("en-toolongsubtag", nil), ("en-US-CA", nil),
            ("pt-BRA", nil), ("de-usa", nil), ("english", nil), ("zho-yue", "yue"),
        ]
        for (text, expected) in cases {
            // When
            let tag = LanguageTag(text)
            // Then
            XCTAssertEqual(tag?.description, expected, text)
            if let tag { XCTAssertEqual(LanguageTag(tag.description), tag) }
        }
    }

    func testDatabasesSayThatThereAreNoWords() {
        let cases: [(String?, LanguageTag.Statement)] = [
            (nil, .textless), ("", .textless), ("xx", .textless), ("zxx", .textless), ("00", .textless), ("null", .textless),
            ("xx-XX", .textless), ("ko", .tag(LanguageTag("ko")!)), ("pt_BR", .tag(LanguageTag("pt-BR")!)),
            ("cn", .tag(LanguageTag("yue")!)), ("cn-HK", .tag(LanguageTag("yue-HK")!)), ("English (US)", .unreadable),
            ("1", .unreadable),
        ]
        for (text, expected) in cases { XCTAssertEqual(LanguageTag.statement(text), expected, text ?? "nil") }
    }

    func testRegionsAndScriptsAreNear() throws {
        // Given what someone wants, what an image has, and the distance
        let cases: [(String, String, Int?)] = [
            ("pt-BR", "pt-BR", 0), ("pt-BR", "pt", 1), ("pt-BR", "pt-PT", 2), ("pt", "pt-BR", 0), ("pt", "es", nil),
            ("zh-Hans", "zh-Hant", nil), ("zh-Hans", "zh-TW", nil), ("zh-Hans", "zh-CN", 0), ("zh-Hans", "zh", 1),
            ("zh", "zh-Hant", 0),
            ("zh", "zh-Hans", 0), ("zh-TW", "zh-Hant", 1), ("zh-TW", "zh-Hant-TW", 0), ("zh-TW", "zh-HK", 2),
            ("zh-TW", "zh-CN", nil),
            ("nb", "no", 1), ("no", "nb", 0), ("nb", "nn", 2), ("zh", "yue", 0), ("en", "en-US", 0), ("und", "und", nil),
            ("sr-Latn", "sr-Cyrl", nil), ("en", "und", nil),
        ]
        for (wanted, found, expected) in cases {
            // When
            let distance = try XCTUnwrap(LanguageTag(wanted)).distance(to: try XCTUnwrap(LanguageTag(found)))
            // Then
            XCTAssertEqual(distance, expected, "\(wanted) \(found)")
        }
    }
}
