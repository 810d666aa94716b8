import OnesheetCore
import OnesheetTesting
import RestSource
import XCTest

final class RestExtremesTests: XCTestCase {
    /// Every kind of field, and a list whose pages follow from its total.
    private static let manifest = """
        api:
          baseURL: http://api.example
          list: { get: "/list{?page}", items: /items, total: /total, perPage: PER, fields: { id: /id, name: /name, rank: /rank,
            releaseDate: /day, metadata: { w: { at: /w, as: integer }, n: { at: /n, as: number }, t: { at: /t, as: text }, any: /any } } }
          title: { get: "/title/{id}", fields: { id: /id, name: /name, metadata: { n: { at: /n, as: number } } } }
          candidates: { get: "/places/{id}", items: /items, order: likeness,
            fields: { url: /url, width: /width, height: /height, published: /day } }
        """
    private static let list =
        #"{"items":[{"id":1,"name":"One","rank":1,"day":"2026-01-01","w":1,"n":1.5,"t":"t","any":{"x":[1]}}],"total":100}"#
    private static let title = #"{"id":"1","name":"One","n":2}"#
    private static let places = #"{"items":[{"url":"http://a.example/1","width":600,"height":900,"day":"2026-01-01T00:00:00Z"}]}"#

    func testThatNoValueOfAServiceTraps() async throws {
        for perPage in [1, 20, Int.max] {
            for list in ExtremeJSON.variants(of: Self.list) { try await expectUsable(["list": list], perPage) }
        }
        for title in ExtremeJSON.variants(of: Self.title) { try await expectUsable(["title": title], 20) }
        for places in ExtremeJSON.variants(of: Self.places) { try await expectUsable(["places": places], 20) }
    }

    func testThatANumberThatIsNoneIsMalformed() async throws {
        let source = try source(["list": Self.list.split(separator: "1.5").joined(separator: "\"nan\"")], perPage: 20)
        do {
            _ = try await source.titles(TitleQuery())
            XCTFail("nan is a number")
        } catch {
            XCTAssertEqual(error, .malformedAnswer(reason: "“nan” at /n is not a number"))
        }
    }

    func testThatAListOfNoLengthIsNoManifest() {
        XCTAssertThrowsError(try source([:], perPage: 0)) {
            XCTAssertTrue("\($0)".contains("list.perPage: needs a number from 1"), "\($0)")
        }
    }

    func testThatAnAnswerOfManySmallValuesIsRefusedAndNotReadForSeconds() async throws {
        // Given seven megabytes of short texts, below the limit of bytes
        let source = try source(["list": #"{"items":["# + String(repeating: "\"a\",", count: 7 << 18) + "1]}"], perPage: 20)
        do {
            _ = try await source.titles(TitleQuery())
            XCTFail("it was read")
        } catch {
            XCTAssertEqual(error, .malformedAnswer(reason: "the service's answer is not JSON"))
        }
    }

    func testThatItsBytesAreConfigured() async throws {
        let source = try source(["list": Self.list], perPage: 20, more: "answerBytes: 50B")
        do {
            _ = try await source.titles(TitleQuery())
            XCTFail("it was read")
        } catch {
            XCTAssertTrue("\(error)".contains("sends more than 50 bytes"), "\(error)")
        }
        XCTAssertNil(source.originPolicy.maxBytes)
    }

    private func source(_ answers: [String: String], perPage: Int, more: String = "") throws -> RestSource {
        let transport = FakeTransport()
        transport.on("http://api.example/list", answers["list"] ?? Self.list)
        transport.on("http://api.example/title/", answers["title"] ?? Self.title)
        transport.on("http://api.example/places/", answers["places"] ?? Self.places)
        let yaml = Self.manifest.split(separator: "PER").joined(separator: "\(perPage)") + "\n" + more
        return try RecordedTMDB.source(yaml, .forTesting(transport: transport))
    }

    private func expectUsable(_ answers: [String: String], _ perPage: Int) async throws {
        let problems = await AnswerTrial.problems(of: try source(answers, perPage: perPage), id: "1")
        XCTAssertEqual(problems, [], answers.values.first ?? "")
    }
}
