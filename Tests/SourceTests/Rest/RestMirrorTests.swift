import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import RestSource

/// Questions of the service's clients, and images that the service names by the path of a file.
final class RestMirrorTests: XCTestCase {
    private let question = ServiceQuestion("/movie/10?page=2") { document, _ in document == .object([:]) ? 1 : 60 }

    func testQuestionIsAskedWithTheKeyAndAnsweredAsItIsWritten() async throws {
        // Given
        let transport = FakeTransport()
        transport.on("\(RecordedTMDB.root)/movie/10?page=2") { _ in
            HTTPAnswer(status: 200, headers: ["etag": "W/\"7\""], body: ByteBuffer(string: "{ \"b\": 1,\n\"a\": 2 }"))
        }
        let source = try RecordedTMDB.source(transport)
        // When
        let answer = try await source.answer(to: question)
        // Then
        XCTAssertEqual(answer, ServiceAnswer(document: "{ \"b\": 1,\n\"a\": 2 }", tag: "W/\"7\"", fresh: 60))
        XCTAssertEqual(transport.requests.map(\.headers), [["Authorization": "Bearer t0ken"]])
    }

    func testKnownAnswerIsConfirmedByItsTag() async throws {
        // Given
        let transport = FakeTransport()
        transport.on("http") { _ in HTTPAnswer(status: 304) }
        let source = try RecordedTMDB.source(transport)
        let known = ServiceAnswer(document: "{}", tag: "W/\"7\"", fresh: 60)
        // When
        let answer = try await source.answer(to: question.knowing(known))
        // Then it is the same, with the freshness that it has now
        XCTAssertEqual(answer, ServiceAnswer(document: "{}", tag: "W/\"7\"", fresh: 1))
        XCTAssertEqual(transport.requests[0].headers["If-None-Match"], "W/\"7\"")
    }

    func testRefusalsAreAnswersAndFailuresAreNot() async throws {
        for (status, text, expected) in [
            (404, RecordedTMDB.missing, nil), (422, #"{"errors":["query must be provided"]}"#, nil), (400, "{}", nil),
            (401, RecordedTMDB.badKey, "rejected"), (429, "{}", "rate"), (500, "{}", "500"), (503, "<p>", "503"),
            (200, "<p>Sorry", "not JSON"), (400, "<p>Sorry", "not JSON"), (200, "", "not JSON"),
            (404, "<p>Sorry", "no title"), (404, "", "no title"),
        ] as [(Int, String, String?)] {
            let transport = FakeTransport()
            transport.on("http", status: status, text)
            do throws(SourceError) {
                let answer = try await RecordedTMDB.asked(question, transport)
                XCTAssertNil(expected, "\(status) \(text)")
                XCTAssertEqual(answer.status, status)
                XCTAssertEqual(answer.document, text)
            } catch {
                XCTAssertTrue(error.description.contains(expected ?? "nothing"), "\(status) \(text): \(error)")
            }
        }
    }

    func testFileIsAnIDThatCostsNoCall() throws {
        let transport = FakeTransport()
        let source = try RecordedTMDB.source(transport)
        XCTAssertEqual(
            source.candidates(namedBy: "/abc123.jpg")?.map(\.location.name), ["https://image.tmdb.org/t/p/original/abc123.jpg"])
        for id in ["10", "tv-10", "/abc", "abc.jpg", "/a/b.jpg", "/../b.jpg", "/a%2F.jpg", "/a?b.jpg", "/.jpg", ""] {
            XCTAssertNil(source.candidates(namedBy: id), id)
        }
        XCTAssertEqual(transport.requests.count, 0)
    }

    func testAnswersOutsideTheLimitsAreRefused() throws {
        let long = String(repeating: "a", count: 5000)
        XCTAssertThrowsError(try ServiceAnswer(status: 404, document: long, fresh: 1).checked())
        XCTAssertThrowsError(try ServiceAnswer(status: 500, document: "{}", fresh: 1).checked())
        let odd = try ServiceAnswer(document: long, tag: "a\r\nb", fresh: .infinity).checked()
        XCTAssertEqual(odd, ServiceAnswer(document: long, fresh: 0))
        XCTAssertEqual(try ServiceAnswer(document: "{}", tag: "\"a\"", fresh: 1e12).checked().fresh, 31 * 86_400)
    }
}

extension RecordedTMDB {
    fileprivate static func asked(
        _ question: ServiceQuestion, _ transport: FakeTransport
    ) async throws(SourceError) -> ServiceAnswer {
        let asked: RestSource
        do { asked = try source(transport) } catch { throw .unsupported("\(error)") }
        return try await asked.answer(to: question)
    }
}
