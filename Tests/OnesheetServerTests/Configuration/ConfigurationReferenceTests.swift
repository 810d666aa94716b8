import Foundation
import OnesheetCore
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// `docs/configuration.md` has the tables that the server prints. `make reference` regenerates them.
final class ConfigurationReferenceTests: XCTestCase {
    func testThatTheDocumentHasEveryTableAsTheServerPrintsIt() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/configuration.md")
        let document = try String(contentsOf: file, encoding: .utf8)
        for (title, keys) in ConfigurationReference.chapters {
            let table = "<!-- keys: \(title) -->\n\(ConfigurationReference.table(of: keys, .standard))<!-- end -->"
            XCTAssertTrue(document.contains(table), "\(title) is stale: run `make reference`")
        }
    }

    func testTheOptionsOfAddressesAreDocumented() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/http-api.md")
        let table = "<!-- keys: Options -->\n\(TransformOption.table)<!-- end -->"
        XCTAssertTrue(try String(contentsOf: file, encoding: .utf8).contains(table), "the table is stale: run `make reference`")
    }

    func testThatEveryKeyIsInOneChapter() {
        let listed = ConfigurationReference.chapters.flatMap(\.keys)
        XCTAssertEqual(listed.sorted(), ServerConfiguration.settings.map(\.key).sorted())
    }

    func testThatEveryKeySaysWhatItIs() {
        // Given
        let rows = ServerConfiguration.rows(below: "")
        // Then each path appears once, and no cell is empty
        XCTAssertGreaterThan(rows.count, 50)
        XCTAssertEqual(Set(rows.map(\.path)).count, rows.count)
        XCTAssertEqual(rows.filter { $0.kind.isEmpty || $0.kind == "section" || $0.defaultText.isEmpty || $0.meaning.isEmpty }, [])
    }

    func testThatDefaultsAreThoseThatHold() {
        let rows = Dictionary(uniqueKeysWithValues: ServerConfiguration.rows(below: "").map { ($0.path, $0.defaultText) })
        for (path, standard) in [
            ("listen", "`127.0.0.1:8080`"), ("socketMode", "`660`"), ("cache.memory.bytes", "`256MiB`"),
            ("cache.disk.expires", "`7d`"),
            ("clients.perAddress.misses", "`20`"), ("limits.pixels", "`64M`"), ("limits.originTimeout", "`10s`"),
            ("presetsOnly", "`false`"), ("log.format", "`text`"), ("presets", "none"), ("prefetch[].at", "required"),
            ("prefetch[].timeZone", "`+00:00`"), ("sources.NAME.limits.time", "`1m`"), ("clients.idleTimeout", "`75s`"),
        ] { XCTAssertEqual(rows[path], standard, path) }
    }
}
