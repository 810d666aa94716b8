import ConfigurationYAML
import FolderSource
import Foundation
import OnesheetCore
import OnesheetTesting
import XCTest

/// Folders as media servers have them.
final class LibraryTests: XCTestCase {
    private var folder = URL(fileURLWithPath: "/")

    override func setUpWithError() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(at: folder) }
        self.folder = folder
    }

    private func write(_ text: String = "x", _ paths: String...) throws {
        for path in paths {
            let file = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }

    private func source() throws -> FolderSource {
        try FolderSource(.init(path: folder.path, layout: .library), context: .forTesting(clock: ManualClock(Date())))
    }

    /// The paths of the images of each title, by kind.
    private func images() async throws -> [String: [String]] {
        let source = try source()
        var images: [String: [String]] = [:]
        for title in try await source.titles(TitleQuery()).titles {
            images[title.id] = try await source.candidates(for: title.id).map { "\($0.kind.rawValue) \($0.page ?? "")" }
        }
        return images
    }

    func testFolderIsATitleWithImagesOfAllKinds() async throws {
        // Given a film as Kodi has it
        try write(
            "x", "Film (2010)/FANART.jpg", "Film (2010)/fanart-2.jpg", "Film (2010)/folder.jpg", "Film (2010)/poster.png",
            "Film (2010)/clearlogo.png", "Film (2010)/Film (2010)-banner.jpg", "Film (2010)/extrafanart/any.jpg",
            "Film (2010)/disc.png", "Film (2010)/holiday.jpg", "Film (2010)/landscape.jpg")
        // When, then
        let images = try await images()
        XCTAssertEqual(
            images,
            [
                "Film (2010)": [
                    "poster Film (2010)/poster.png", "poster Film (2010)/folder.jpg", "backdrop Film (2010)/FANART.jpg",
                    "backdrop Film (2010)/fanart-2.jpg", "logo Film (2010)/clearlogo.png",
                    "banner Film (2010)/Film (2010)-banner.jpg",
                    "still Film (2010)/landscape.jpg", "backdrop Film (2010)/extrafanart/any.jpg",
                ]
            ])
    }

    func testOnlyLogosAreDrawings() async throws {
        try write("x", "Film/poster.jpg", "Film/Logo.SVG", "Film/poster2.svg", "Drawn/poster.svg", "Drawn/Drawn.svg", "One.svg")
        let images = try await images()
        XCTAssertEqual(images, ["Film": ["poster Film/poster.jpg", "logo Film/Logo.SVG"]])
    }

    func testFilmsInOneFolderAreTitlesByTheirNames() async throws {
        // Given films in one folder, a show with seasons and an episode, and images at the top
        try write(
            "x", "Films/One.jpg", "Films/One-fanart.jpg", "Films/One-fanart-1.jpg", "Films/Two - Part 2-poster.jpg",
            "Show/folder.jpg",
            "Show/season01-poster.jpg", "Show/season-specials-poster.jpg", "Show/season02.jpg", "Show/season01-banner.jpg",
            "Show/Season 1/Show S01E01-thumb.jpg", "Alone/Alone.jpg", "Top.jpg", "Top-clearlogo.png")
        // When, then
        let images = try await images()
        XCTAssertEqual(
            images.mapValues { $0.sorted() },
            [
                "Films/One": ["backdrop Films/One-fanart-1.jpg", "backdrop Films/One-fanart.jpg", "poster Films/One.jpg"],
                "Films/Two - Part 2": ["poster Films/Two - Part 2-poster.jpg"], "Show": ["poster Show/folder.jpg"],
                "Show/s0": ["poster Show/season-specials-poster.jpg"],
                "Show/s1": ["banner Show/season01-banner.jpg", "poster Show/season01-poster.jpg"],
                "Show/s2": ["poster Show/season02.jpg"], "Alone": ["poster Alone/Alone.jpg"],
                "Top": ["logo Top-clearlogo.png", "poster Top.jpg"],
            ])
    }

    func testNamesAndIDsComeFromTheFolder() async throws {
        for (name, title, year, ids) in [
            ("Inception (2010) [tmdbid-27205] [imdbid=tt1375666]", "Inception", 2010, ["tmdb": "27205", "imdb": "tt1375666"]),
            ("{tvdb-7} A (B) C (1999)", "A (B) C", 1999, ["tvdb": "7"]), ("(2012)", "(2012)", 2012, [:]),
            ("No [tmdbid-x] [imdbid-27] year", "No year", nil, [:]), ("[REC] (2007)", "[REC]", 2007, [:]),
        ] as [(String, String, Int?, [String: String])] {
            // Given
            try write("x", "\(name)/poster.jpg")
            // When
            let found = try await source().title(name)
            // Then
            XCTAssertEqual(found.name, title)
            XCTAssertEqual(found.metadata["year"], year.map { .integer($0) }, name)
            XCTAssertEqual(found.ids, ids, name)
        }
    }

    func testSeasonsAreCalledLikeTheirShow() async throws {
        // Given
        try write(
            "x", "Shows/Kingdom (2019) {tvdb-7}/season02-poster.jpg", "Shows/Kingdom (2019) {tvdb-7}/season-specials-poster.jpg")
        let source = try source()
        // When
        let page = try await source.titles(TitleQuery())
        // Then
        XCTAssertEqual(page.titles.map(\.name), ["Kingdom, Specials", "Kingdom, Season 2"])
        XCTAssertEqual(page.titles.map(\.ids), [[:], [:]])
    }

    func testFoldersOfSeasonsAreSeasonsOfTheirShow() async throws {
        // Given seasons as Jellyfin and Kodi have them, with episodes, and folders that only look like some
        try write(
            "x", "Show/poster.jpg", "Show/season02-banner.jpg", "Show/Season 02/poster.jpg", "Show/Season 02/S02E01-thumb.jpg",
            "Show/Season 02/S02E01.jpg", "Show/Season 2 (2011)/folder.jpg", "Show/Season 3/season03-poster.jpg",
            "Show/Season 3/fanart.jpg", "Show/Specials/Poster.png", "Show/S04/cover.jpg", "Show/Season 5/Season 5.jpg",
            "Show/Season 5/fanart.jpg", "Show/Season 5/extrafanart/any.jpg", "Films/Specials/poster.jpg", "Season 1/poster.jpg",
            "Films/Seasons/poster.jpg")
        try write("<episodedetails><title>no</title></episodedetails>", "Show/Season 02/S02E01.nfo")
        // When
        let images = try await images()
        // Then
        XCTAssertEqual(
            images.mapValues { $0.sorted() },
            [
                "Show": ["poster Show/poster.jpg"],
                "Show/s2": [
                    "banner Show/season02-banner.jpg", "poster Show/Season 02/poster.jpg", "poster Show/Season 2 (2011)/folder.jpg",
                ],
                "Show/s3": ["backdrop Show/Season 3/fanart.jpg", "poster Show/Season 3/season03-poster.jpg"],
                "Show/s0": ["poster Show/Specials/Poster.png"], "Show/s4": ["poster Show/S04/cover.jpg"],
                "Show/s5": [
                    "backdrop Show/Season 5/extrafanart/any.jpg", "backdrop Show/Season 5/fanart.jpg",
                    "poster Show/Season 5/Season 5.jpg",
                ],
                "Films/Specials": ["poster Films/Specials/poster.jpg"], "Season 1": ["poster Season 1/poster.jpg"],
                "Films/Seasons": ["poster Films/Seasons/poster.jpg"],
            ])
        let title = try await source().title("Show/s2")
        XCTAssertEqual(title.name, "Show, Season 2")
    }

    func testLiteralTextOfFactsIsRead() async throws {
        // Given sections of literal text, alone, in pieces, in a comment, around one, and without an end
        try write("x", "A/poster.jpg", "B/poster.jpg")
        try write(
            """
            <movie><!-- <![CDATA[ --><title><![CDATA[Tom & <b>Jerry</b>]]></title>
              <originaltitle>a <![CDATA[<!-- b ]]]]><![CDATA[> -->]]> c</originaltitle><plot><![CDATA[]]>&amp;</plot></movie>
            """, "A/movie.nfo")
        try write("<movie><title>Bee</title><plot><![CDATA[endless</plot></movie>", "B/movie.nfo")
        let source = try source()
        // When
        let (a, b) = (try await source.title("A"), try await source.title("B"))
        // Then
        XCTAssertEqual(a.name, "Tom & <b>Jerry</b>")
        XCTAssertEqual(a.originalName, "a <!-- b ]]> --> c")
        XCTAssertEqual(a.overview, "&")
        XCTAssertEqual(b.name, "Bee")
        XCTAssertNil(b.overview)
    }

    func testFactsComeFromTheFileOfTheTitle() async throws {
        // Given files as Kodi and Jellyfin write them
        try write("x", "A/poster.jpg", "Show/poster.jpg", "Films/B-poster.jpg", "Films/C-poster.jpg")
        try write(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <movie><!-- <title>no</title> --><title>Tom &amp; Am&#233;lie&#x20; &#xE9;&no;</title><originaltitle> 톰 </originaltitle>
              <set><name>no</name></set><plot>A cat.</plot><premiered>2010-07-16</premiered><year>2010</year>
              <uniqueid type="imdb" default="true">tt1375666</uniqueid><uniqueid type='tmdb'>27205</uniqueid>
              <uniqueid type="tvdb">../1</uniqueid></movie>
            """, "A/movie.nfo")
        try write("<tvshow><title>S</title><tmdbid>7</tmdbid></tvshow>", "Show/tvshow.nfo")
        try write("<movie><title>Bee</title></movie>", "Films/B.nfo")
        try write(String(repeating: "<title <uniqueid ", count: 2000) + ">", "Films/C.nfo")
        let source = try source()
        // When
        let (a, show) = (try await source.title("A"), try await source.title("Show"))
        let (b, c) = (try await source.title("Films/B"), try await source.title("Films/C"))
        // Then
        XCTAssertEqual([a.name, show.name, b.name, c.name], ["Tom & Amélie é&no;", "S", "Bee", "C"])
        XCTAssertEqual(a.originalName, "톰")
        XCTAssertEqual(a.overview, "A cat.")
        XCTAssertEqual(a.releaseDate, CalendarDay("2010-07-16"))
        XCTAssertEqual(a.ids, ["imdb": "tt1375666", "tmdb": "27205"])
        XCTAssertEqual(show.ids, ["tmdb": "tv-7"])
        XCTAssertEqual(a.metadata["files"], .array(["A/poster.jpg"]))
    }

    func testChangedFactsAreAChangedTitle() async throws {
        // Given a library whose files are old enough to be sure of
        try write("x", "A/poster.jpg", "B/poster.jpg")
        try write("<movie><title>One</title></movie>", "A/movie.nfo")
        let clock = ManualClock(Date().addingTimeInterval(60))
        let source = try FolderSource(.init(path: folder.path, layout: .library), context: .forTesting(clock: clock))
        _ = try await source.changes()
        // When a file with facts changes
        try FileManager.default.removeItem(at: folder.appendingPathComponent("A/movie.nfo"))
        try write("<movie><title>Another</title></movie>", "A/movie.nfo")
        // Then the title has
        let changes = try await source.changes()
        XCTAssertEqual(changes, .titles(["A"]))
        let title = try await source.title("A")
        XCTAssertEqual(title.name, "Another")
    }

    func testNamesThatNoAddressHasAreLeftOut() async throws {
        try write("x", "A/poster.jpg", "B\nC/poster.jpg", "D\tE/poster.jpg")
        let page = try await source().titles(TitleQuery())
        XCTAssertEqual(page.titles.map(\.id), ["A"])
    }

    func testFolderThatIsGoneNamesNoPathToVisitors() async throws {
        try write("x", "gone/A/poster.jpg")
        let source = try FolderSource(.init(path: folder.path + "/gone", layout: .library), context: .forTesting())
        try FileManager.default.removeItem(at: folder.appendingPathComponent("gone"))
        do {
            _ = try await source.titles(TitleQuery())
            XCTFail("there is a list")
        } catch {
            XCTAssertFalse(error.message.contains("gone"), error.message)
            XCTAssertTrue(error.details?.contains("gone") ?? false, "\(error)")
        }
    }

    func testUnknownLayoutIsRefused() throws {
        let value = try ConfigurationValue(yaml: "path: \(folder.path)\nlayout: libary")
        XCTAssertThrowsError(try ConfigurationDecoder().decode(FolderSource.Configuration.self, from: value)) { error in
            XCTAssertTrue("\(error)".contains("unknown layout “libary”; did you mean “library”?"), "\(error)")
        }
    }

    func testLibraryConforms() async throws {
        // Given
        try write("x", "Film (2010)/poster.jpg", "Films/One.jpg")
        let path = folder.path
        let suite = SourceConformance(transport: FakeTransport(), knownID: "Film (2010)", unknownID: "../x", list: TitleQuery()) {
            _ in
            try FolderSource(.init(path: path, layout: .library), context: .forTesting(clock: ManualClock(Date())))
        }
        // When
        let report = await suite.run()
        // Then
        XCTAssertTrue(report.failures.isEmpty, "\(report)")
    }
}
