import ConfigurationYAML
import FolderSource
import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

final class FolderSourceTests: XCTestCase {
    private var folder = URL(fileURLWithPath: "/")

    override func setUpWithError() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("folder-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(at: folder) }
        self.folder = folder
    }

    private func write(_ text: String, _ path: String) throws {
        let file = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func source(limits: Limits = Limits()) throws -> FolderSource {
        try FolderSource(.init(path: folder.path), context: .forTesting(clock: ManualClock(Date()), limits: limits))
    }

    private func ids(_ source: FolderSource, _ query: TitleQuery = TitleQuery()) async throws -> [String] {
        try await source.titles(query).titles.map(\.id)
    }

    private func text(_ candidate: PosterCandidate?) throws -> String {
        guard case .local(_, let bytes)? = candidate?.location else { throw SourceError.unsupported("no bytes") }
        return String(buffer: try bytes())
    }

    private func assertNotFound(_ source: FolderSource, _ id: String, line: UInt = #line) async {
        do throws(SourceError) {
            _ = try await source.candidates(for: id)
            XCTFail("“\(id)” was answered", line: line)
        } catch {
            XCTAssertEqual(error, .notFound(id: id), line: line)
        }
    }

    func testThatPicturesAreTitlesByPathWithoutExtension() async throws {
        // Given
        for path in [
            "b.jpg", "a.PNG", "noir/alley.jpeg", "noir/deep/x.y.webp", "notes.txt", ".hidden.jpg", ".git/c.jpg", "광해.avif",
        ] {
            try write("x", path)
        }

        // When
        let titles = try await source().titles(TitleQuery()).titles

        // Then
        XCTAssertEqual(titles.map(\.id), ["a", "b", "noir/alley", "noir/deep/x.y", "광해"])
        XCTAssertEqual(titles.map(\.name), ["a", "b", "alley", "x.y", "광해"])
        XCTAssertEqual(titles[2].metadata, ["files": .array(["noir/alley.jpeg"])])
    }

    func testThatPicturesWhichTheServerCannotReadAreNotListedAndReported() async throws {
        // Given a server without WebP, and pictures in more formats
        for path in ["a.jpg", "b.webp", "c.tif", "d/e.TIFF", "f.webp", "notes.txt"] { try write("x", path) }
        let log = LogRecorder()
        let context = PluginContext.forTesting(
            clock: ManualClock(Date()), readableFormats: [.jpeg, .png], logger: log.logger)
        let source = try FolderSource(.init(path: folder.path), context: context)

        // When the list is read twice
        let first = try await ids(source)
        _ = try await ids(source)

        // Then they are reported once
        XCTAssertEqual(first, ["a"])
        XCTAssertEqual(log.all.count, 1, "\(log.all)")
        XCTAssertTrue(log.all[0].contains("cannot read and does not list: 1 .tif, 1 .tiff, 2 .webp"), log.all[0])
    }

    func testThatFilesOfOneNameAreCandidatesTheLargestFirst() async throws {
        // Given
        try write("small", "a.png")
        try write("much larger", "a.jpg")
        let source = try source()

        // When
        let candidates = try await source.candidates(for: "a")

        // Then
        XCTAssertEqual(candidates.map(\.page), ["a.jpg", "a.png"])
        XCTAssertEqual(try candidates.map { try text($0) }, ["much larger", "small"])
    }

    func testThatAFileThatComesOrGoesIsSeenByTheNextRequest() async throws {
        // Given
        try write("x", "a.jpg")
        let source = try source()
        let before = try await ids(source)

        // When
        try write("x", "new/b.jpg")
        let added = try await ids(source)
        try write("x", "new/c.jpg")
        let deeper = try await ids(source)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("a.jpg"))
        let removed = try await ids(source)

        // Then
        XCTAssertEqual([before, added, deeper, removed], [["a"], ["a", "new/b"], ["a", "new/b", "new/c"], ["new/b", "new/c"]])
        await assertNotFound(source, "a")
    }

    func testThatASettledFolderSeesChangesToo() async throws {
        // Given a clock far from the files' times, so that the listing counts as settled
        try write("x", "a.jpg")
        let past = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: folder.path)
        let source = try source()
        let before = try await ids(source)

        // When
        try write("x", "b.jpg")

        // Then
        let after = try await ids(source)
        XCTAssertEqual([before, after], [["a"], ["a", "b"]])
    }

    func testThatAChangedFileIsAnotherOriginal() async throws {
        // Given
        try write("one", "a.jpg")
        let source = try source()
        let before = try await source.candidates(for: "a")[0].location.name

        // When
        try write("three", "a.jpg")
        let after = try await source.candidates(for: "a")[0]

        // Then
        XCTAssertNotEqual(before, after.location.name)
        XCTAssertEqual(try text(after), "three")
    }

    func testThatChangesAreToldOnceAndAlsoAfterARestart() async throws {
        // Given a folder whose changes have been reported; its files changed long ago according to the clock
        for name in ["a.jpg", "b.jpg", "noir/c.jpg"] { try write("one", name) }
        let state = InMemoryState()
        let make = { [folder] in try FolderSource(.init(path: folder.path), context: .forTesting(state: state)) }
        let source = try make()
        let first = [try await source.changes(), try await source.changes()]
        XCTAssertEqual(first, [.all, TitleChanges.none])

        // When files are added, removed and changed, one of them without a change of settable attributes
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("a.jpg").path)
        let handle = try FileHandle(forWritingTo: folder.appendingPathComponent("a.jpg"))
        try handle.write(contentsOf: Data("two".utf8))
        try handle.close()
        let date = try XCTUnwrap(attributes[.modificationDate])
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.appendingPathComponent("a.jpg").path)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("b.jpg"))
        try write("larger", "noir/c.png")
        try write("new", "d.jpg")
        let told = [try await source.changes(), try await source.changes()]

        // Then they are reported, and after a restart only later changes are
        XCTAssertEqual(told, [.titles(["a", "b", "d", "noir/c", "/noir/c.jpg", "/noir/c.png"]), TitleChanges.none])
        let again = try await make().changes()
        XCTAssertEqual(again, TitleChanges.none)
        try write("three", "a.jpg")
        let changed = try await make().changes()
        XCTAssertEqual(changed, .all)
    }

    func testThatAFileThatChangedJustNowIsToldOnceMoreWhenItIsSettled() async throws {
        // Given a file that changes during the poll: its timestamps cannot reveal a further change
        let clock = ManualClock(Date())
        try write("one", "a.jpg")
        let source = try FolderSource(.init(path: folder.path), context: .forTesting(clock: clock))
        _ = try await source.changes()
        // When time passes
        var told = [try await source.changes()]
        clock.advance(by: .seconds(10))
        told += [try await source.changes(), try await source.changes()]
        // Then
        XCTAssertEqual(told, [TitleChanges.none, .titles(["a"]), TitleChanges.none])
    }

    func testANameIsFoundHoweverItsAccentsAreWritten() async throws {
        // Given names with separate accents, as macOS writes them, one of them with both, and a syllable in its parts
        let (separate, joined) = ("cafe\u{301}", "caf\u{E9}")
        for name in [separate, "noir/\(separate)", "noir/\(joined)", "\u{1100}\u{1161}"] { try write("x", "\(name).jpg") }
        let source = try source()
        // When the names are asked for with joined ones, and exactly
        let (alone, korean) = (try await source.title(joined), try await source.title("\u{AC00}"))
        let exact = [try await source.title("noir/\(separate)"), try await source.title("noir/\(joined)")]
        // Then the only file of that text is found, and of two the one with these bytes
        XCTAssertEqual(Array(alone.id.utf8), Array(separate.utf8))
        XCTAssertEqual(korean.id.unicodeScalars.count, 2)
        XCTAssertEqual(exact.map { Array($0.id.utf8) }, ["noir/\(separate)", "noir/\(joined)"].map { Array($0.utf8) })
        // And it has one spelling
        XCTAssertEqual(Array(source.canonicalID(joined).utf8), Array(separate.utf8))
        XCTAssertEqual(Array(source.canonicalID("noir/\(joined)").utf8), Array("noir/\(joined)".utf8))
        let candidates = try await source.candidates(for: joined)
        XCTAssertEqual(candidates.count, 1)
        await assertNotFound(source, "cafe")
    }

    func testPathOfAFileBeginsWithASlash() async throws {
        // Given a file in a folder
        try write("x", "noir/alley.2.jpg")
        let source = try source()
        // When its path is asked for as other servers have it, then its id is found, also before the folder was read
        for path in ["/noir/alley.2.jpg", "/noir/alley.2.png"] { XCTAssertEqual(source.canonicalID(path), "noir/alley.2") }
        let title = try await source.title(source.canonicalID("/noir/alley.2.jpg"))
        XCTAssertEqual(title.id, "noir/alley.2")
        // And an id is one without
        XCTAssertEqual(source.canonicalID("noir/alley.2"), "noir/alley.2")
    }

    func testPathOfAFileIsThatFile() async throws {
        // Given two files of one name
        try write("larger", "films/1.jpg")
        try write("x", "films/1.png")
        let source = try source()
        let title = try await source.candidates(for: "films/1")
        XCTAssertEqual(title.map(\.page), ["films/1.jpg", "films/1.png"])
        // When each is asked for by its path
        let ids = ["/films/1.jpg", "/films/1.png", "/films/1.webp"].map { source.canonicalID($0) }
        // Then the larger one is that of the title, and the other one is itself
        XCTAssertEqual(ids, ["films/1", "/films/1.png", "films/1"])
        XCTAssertEqual(source.canonicalID(ids[1]), ids[1])
        let file = try await source.candidates(for: "/films/1.png")
        XCTAssertEqual(file.map(\.page), ["films/1.png"])
        let named = try await source.title("/films/1.png")
        XCTAssertEqual(named.id, "/films/1.png")
        await assertNotFound(source, "/films/1.webp")
        // And a change is one of both
        _ = try await source.changes()
        try write("largest of all", "films/1.png")
        var told: TitleChanges? = TitleChanges.none
        while told == TitleChanges.none { told = try await source.changes() }
        XCTAssertEqual(told, .titles(["films/1", "/films/1.jpg", "/films/1.png"]))
        XCTAssertEqual(source.canonicalID("/films/1.png"), "films/1")
        XCTAssertEqual(source.canonicalID("/films/1.jpg"), "/films/1.jpg")
    }

    func testThatThereIsNoWayOutOfTheFolder() async throws {
        // Given
        try write("x", "a.jpg")
        let outside = folder.deletingLastPathComponent().appendingPathComponent("outside-\(UUID()).jpg")
        try Data("secret".utf8).write(to: outside)
        addTeardownBlock { try FileManager.default.removeItem(at: outside) }
        try FileManager.default.createSymbolicLink(at: folder.appendingPathComponent("link.jpg"), withDestinationURL: outside)
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("up"), withDestinationURL: folder.deletingLastPathComponent())
        let source = try source()
        let name = outside.deletingPathExtension().lastPathComponent

        for id in ["../\(name)", "link", "up/\(name)", "./a", "a.jpg", "/a", outside.path, "noir/../a", "", "."] {
            // When, then
            await assertNotFound(source, id)
        }
        let listed = try await ids(source)
        XCTAssertEqual(listed, ["a"])
    }

    func testThatALinkThatTakesAFilesPlaceIsNotFollowed() async throws {
        // Given
        try write("x", "sub/a.jpg")
        let candidate = try await source().candidates(for: "sub/a")[0]
        let sub = folder.appendingPathComponent("sub")
        try FileManager.default.removeItem(at: sub)
        try write("secret", "other/a.jpg")

        // When
        try FileManager.default.createSymbolicLink(at: sub, withDestinationURL: folder.appendingPathComponent("other"))

        // Then
        XCTAssertThrowsError(try text(candidate)) {
            XCTAssertEqual($0 as? SourceError, .unavailable(reason: "sub/a.jpg cannot be read: Not a directory"))
        }
    }

    func testThatATooLargeFileIsRefused() async throws {
        // Given
        try write("12345", "a.jpg")

        // When
        let candidate = try await source(limits: Limits(originBytes: 4)).candidates(for: "a")[0]

        // Then
        XCTAssertThrowsError(try text(candidate)) {
            XCTAssertEqual($0 as? SourceError, .malformedAnswer(reason: "a.jpg has more than 4 bytes"))
        }
    }

    func testThatManyFilesComeInPagesAndAPhraseFindsSome() async throws {
        // Given
        for number in 100..<220 { try write("x", "n\(number).jpg") }
        let source = try source()

        // When
        let pages = [
            try await source.titles(TitleQuery()), try await source.titles(TitleQuery(page: 3)),
            try await source.titles(TitleQuery(page: Int.max)), try await source.titles(TitleQuery(phrase: "N11")),
        ]

        // Then
        XCTAssertEqual(pages.map(\.titles.count), [50, 20, 0, 10])
        XCTAssertEqual(pages.map(\.next), [2, nil, nil, nil])
        XCTAssertEqual(pages.map(\.total), [120, 120, 120, 10])
    }

    func testThatAFolderThatVanishesIsUnavailable() async throws {
        // Given
        let source = try source()
        try FileManager.default.moveItem(at: folder, to: folder.appendingPathExtension("gone"))

        // When
        do throws(SourceError) {
            _ = try await source.titles(TitleQuery())
            XCTFail("it answered")
        } catch {
            // Then
            guard case .failed = error else { return XCTFail("\(error)") }
        }
        try FileManager.default.moveItem(at: folder.appendingPathExtension("gone"), to: folder)
    }

    func testThatConfigurationsAreDecodedAndChecked() throws {
        // Given
        let value = try ConfigurationValue(yaml: FolderSource.sampleConfiguration)

        // When
        let configuration = try ConfigurationDecoder().decode(FolderSource.Configuration.self, from: value)

        // Then
        XCTAssertEqual(configuration.path, "./posters")
        XCTAssertThrowsError(try FolderSource(.init(path: folder.path + "/none"), context: .forTesting())) {
            XCTAssertEqual("\($0)", "path: “\(folder.path)/none” is not a directory")
        }
    }

    func testThatItConforms() async throws {
        // Given
        for name in ["a.jpg", "b.png", "sub/c.jpg"] { try write(name, name) }
        let path = folder.path
        let suite = SourceConformance(transport: FakeTransport(), knownID: "sub/c", unknownID: "d", list: TitleQuery()) {
            try FolderSource(.init(path: path), context: .forTesting(transport: $0))
        }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }
}

extension FolderSourceTests {
    func testThatFilesWhoseNamesOnlyLookTheSameAreEachAPictureOfTheirOwn() async throws {
        // Given files whose names are equal in Swift, but not in the file system
        for (one, other) in LookalikeTexts.pairs {
            try write("first", "\(one).jpg")
            try write("second", "\(other).jpg")
        }
        let source = try source()
        // When they are asked for
        let listed = try await ids(source).map { Array($0.utf8) }
        // Then each exists once, with its own bytes
        XCTAssertEqual(listed.count, 2 * LookalikeTexts.pairs.count)
        XCTAssertEqual(Set(listed).count, listed.count)
        for (one, other) in LookalikeTexts.pairs {
            let (first, second) = (try await source.candidates(for: one), try await source.candidates(for: other))
            XCTAssertEqual([try text(first.first), try text(second.first)], ["first", "second"], one)
            XCTAssertEqual([first.count, second.count], [1, 1])
        }
    }
}
