import Foundation
import OnesheetValues
import XCTest

final class TitleTextsTests: XCTestCase {
    private func tag(_ text: String) throws -> LanguageTag { try XCTUnwrap(LanguageTag(text)) }

    /// A French film in a database that was asked in English.
    private func film() throws -> Title {
        Title(
            id: "1", name: "Amelie", originalName: "Le Fabuleux Destin", originalLanguage: try tag("fr"), overview: "A waitress.",
            metadata: ["genres": .array(["Comedy"]), "runtime": 122],
            translations: [
                try tag("fr-FR"): TitleTexts(overview: "Une serveuse."), try tag("ko-KR"): TitleTexts(name: "아멜리에"),
                try tag("pt-PT"): TitleTexts(name: "O Fabuloso Destino", metadata: ["genres": .array(["Comédia"])]),
                try tag("pt-BR"): TitleTexts(name: "O Fabuloso Destino de Amélie", overview: "Uma garçonete."),
            ])
    }

    func testEachTextIsInTheFirstLanguageThatHasIt() throws {
        let cases: [(String?, name: String, overview: String)] = [
            (nil, "Amelie", "A waitress."), ("de", "Amelie", "A waitress."), ("none", "Amelie", "A waitress."),
            ("ko", "아멜리에", "A waitress."), ("ko.original", "아멜리에", "Une serveuse."), ("ko.pt", "아멜리에", "Uma garçonete."),
            ("original", "Le Fabuleux Destin", "Une serveuse."), ("fr-CA", "Le Fabuleux Destin", "Une serveuse."),
            ("pt", "O Fabuloso Destino de Amélie", "Uma garçonete."), ("pt-PT", "O Fabuloso Destino", "Uma garçonete."),
            ("de.pt-AO", "O Fabuloso Destino de Amélie", "Uma garçonete."),
        ]
        for (languages, name, overview) in cases {
            let title = try film().read(in: try languages.map { try LanguageList($0) })
            XCTAssertEqual(title.name, name, languages ?? "")
            XCTAssertEqual(title.overview, overview, languages ?? "")
            XCTAssertTrue(title.translations.isEmpty)
        }
    }

    func testDetailsFollowToo() throws {
        let title = try film().read(in: try LanguageList("pt.fr"))
        XCTAssertEqual(title.metadata, ["genres": .array(["Comédia"]), "runtime": 122])
    }

    func testTranslationsSurviveJSON() throws {
        let film = try film()
        let written = try JSONEncoder().encode(film)
        XCTAssertEqual(try JSONDecoder().decode(Title.self, from: written), film)
        // A response has none.
        let shown = String(decoding: try JSONEncoder().encode(film.read(in: nil)), as: UTF8.self)
        XCTAssertFalse(shown.contains("translations"), shown)
    }

    func testTranslationsThatSayNothingAreLeftOut() throws {
        let json = """
            {"id":"1","name":"A","metadata":{},"translations":{"ko":{"name":"가","overview":""},"klingon!":{"name":"B"},"xx":{"name":"C"},
            "de":{"name":"","metadata":{"genres":[]}},"fr":"D","pt_BR":{"overview":"E","more":1}}}
            """
        let title = try JSONDecoder().decode(Title.self, from: Data(json.utf8))
        XCTAssertEqual(title.translations, [try tag("ko"): TitleTexts(name: "가"), try tag("pt-BR"): TitleTexts(overview: "E")])
    }
}
