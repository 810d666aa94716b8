import Foundation
import OnesheetCore
import OnesheetTesting
import RestSource
import Synchronization
import XCTest

final class RestConfigurationTests: XCTestCase {
    private let api = """
        api:
          baseURL: https://a.example
          quota: { perDay: 2, timeZone: "+09:00" }
          title: { get: "/t/{id}", fields: { id: /id, name: /name } }
          candidates: { get: "/c/{id}", items: /c, fields: { url: /url } }
        """

    func testThatTheSampleConfigurationWorks() throws {
        // Given
        let yaml = RestSource.sampleConfiguration

        // When
        let make = { try RecordedTMDB.source(yaml) }

        // Then
        XCTAssertNoThrow(try make())
    }

    func testThatAManifestCanStandInTheConfigurationOrInAFile() async throws {
        // Given
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("manifest-\(UUID()).yaml")
        let manifest = api.split(separator: "\n").dropFirst().map { $0.dropFirst(2) }.joined(separator: "\n")
        try Data(manifest.utf8).write(to: file)
        addTeardownBlock { try FileManager.default.removeItem(at: file) }
        let transport = FakeTransport()
        transport.on("https://a.example/t/1", #"{"id":"1","name":"One"}"#)

        for yaml in [api, "manifest: \(file.path)"] {
            // When
            let title = try await RecordedTMDB.source(yaml, .forTesting(transport: transport)).title("1")

            // Then
            XCTAssertEqual(title, Title(id: "1", name: "One"))
        }
    }

    func testThatTheServerLearnsWhichFileHasTheManifest() throws {
        // Given a context that notes the files, and a manifest that does not exist
        let read = Mutex<[String]>([])
        var context = PluginContext.forTesting()
        context.onRead = { path in read.withLock { $0.append(path) } }

        // When sources with it, with a built-in one and with keys are made
        XCTAssertThrowsError(try RecordedTMDB.source("manifest: ./none.yaml", context))
        _ = try RecordedTMDB.source("manifest: tmdb\nvariables: { token: t }", context)
        _ = try RecordedTMDB.source(api, context)

        // Then the file is known
        XCTAssertEqual(read.withLock { $0 }, ["./none.yaml"])
    }

    func testThatTheDaysCallsAreCountedAlsoAfterARestart() async throws {
        // Given
        let (clock, state, transport) = (ManualClock(), InMemoryState(), FakeTransport())
        transport.on("https://a.example/t/1", #"{"id":"1","name":"One"}"#)
        let context = PluginContext.forTesting(transport: transport, clock: clock, state: state)
        _ = try await RecordedTMDB.source(api, context).title("1")
        let restarted = try RecordedTMDB.source(api, context)
        _ = try await restarted.title("1")

        // When
        do throws(SourceError) {
            _ = try await restarted.title("1")
            XCTFail("a third call was made")
        } catch {
            // Then
            XCTAssertEqual(error, .quotaExhausted(until: 1_795_273_200))
        }
        XCTAssertEqual(transport.count(), 2)
        clock.now = Date(timeIntervalSince1970: 1_795_273_200)
        _ = try await restarted.title("1")
        XCTAssertEqual(state.values["calls"], "2026-11-22 1")
    }

    func testThatAConfigurationThatCannotBeUsedIsRefused() {
        // Given
        let neither = "manifest: needs either a “manifest” by name or file, or its keys under “api”"
        let cases = [
            ("{}", neither), ("manifest: tmdb\n\(api)", neither),
            ("manifest: tmdbb\nvariables: { token: t }", "manifest: unknown manifest “tmdbb”; did you mean “tmdb”?"),
            ("manifest: ./none.yaml", "manifest: “./none.yaml” cannot be read"),
            (
                "manifest: tmdb",
                "variables.token: is missing; write variables: { token: \"${TMDB_TOKEN}\" }, and set TMDB_TOKEN in the environment"
            ),
            (
                api.replacing("/t/{id}", with: "/t/{idd}"),
                "title.get: unknown variable “idd”; did you mean “id”? (values belong under “variables”)"
            ),
            (
                api.replacing("/t/{id}", with: "/t/{id"),
                "api.title.get: “/t/{id” is not a URI template such as /movie/{id}{?language}"
            ),
            (
                api.replacing("name: /name", with: "name: name"),
                "api.title.fields.name: “name” is not a JSON pointer such as /results/0/title"
            ),
            (api.replacing("name: /name", with: "nme: /name"), "api.title.fields: unknown key “nme”; did you mean “name”?"),
            (
                "\(api)\n  periods: { week: { get: \"/w/{weak}\", items: /w, fields: { id: /id, name: /name } } }",
                "periods.week.get: unknown variable “weak”; known: page (values belong under “variables”)"
            ),
            (api.replacing("+09:00", with: "Seoul"), "api.quota.timeZone: “Seoul” is not an offset such as +09:00"),
        ]

        for (yaml, expected) in cases {
            // When
            let make = { try RecordedTMDB.source(yaml) }

            // Then
            XCTAssertThrowsError(try make(), yaml) { XCTAssertEqual("\($0)", expected) }
        }
    }
}
