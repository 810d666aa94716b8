import OnesheetValues
import XCTest

final class ImageSelectorTests: XCTestCase {
    func testSelectorSurvivesItsText() throws {
        for text in ["poster", "backdrop", "logo.ko.original.none", "season.zh-Hant"] {
            XCTAssertEqual(try ImageSelector(text).description, text)
        }
        XCTAssertEqual(try ImageSelector("logo.KO,none").description, "logo.ko.none")
        for text in ["", "logos", "logo.", "logo.1", ".ko"] { XCTAssertThrowsError(try ImageSelector(text), text) }
    }

    func testLanguageWithoutKindIsSaid() {
        for text in ["ko", "original.en", "none"] {
            XCTAssertThrowsError(try ImageSelector(text)) { error in
                XCTAssertTrue("\(error)".contains("languages come behind a kind, as in poster.ko.none"), "\(error)")
            }
        }
    }

    func testPosterHasTheNameOfItsTitle() throws {
        // Given
        let title = TitleReference(source: "tmdb", id: "logo@x://y")
        for (selector, text) in [("poster", "tmdb://logo@x://y"), ("logo.ko", "logo.ko@tmdb://logo@x://y")] {
            // When
            let image = ImageReference(title, try ImageSelector(selector))
            // Then
            XCTAssertEqual(image.description, text)
            XCTAssertEqual(ImageReference(written: text), image)
        }
        XCTAssertNil(ImageReference(written: "nonsense@tmdb://1"))
    }
}
