import OnesheetCore
import OnesheetTesting
import XCTest

final class SourceErrorTests: XCTestCase {
    func testThatAFailedRequestBecomesTheReasonItMeans() {
        // Given
        let url = "https://a.example/x?key=secret"
        let errors: [HTTPTransportError] = [
            .timedOut(url: url), .failed(url: url, reason: "refused"), .tooManyRedirects(url: url),
            .forbidden(url: url, reason: "private"),
            .invalidURL(url), .tooLarge(url: url, limit: 10), .unavailable(url: url, retryAfter: 600),
        ]

        // When
        let reasons = errors.map(SourceError.init)

        // Then
        XCTAssertEqual(
            reasons,
            [
                .failed(reason: "it did not answer in time", details: "https://a.example"),
                .failed(reason: "it cannot be fetched: refused", details: "https://a.example"),
                .failed(reason: "it redirects too often", details: "https://a.example"),
                .failed(reason: "it may not be fetched: private", details: "https://a.example"),
                .unavailable(reason: "what is to be fetched is not an http or https URL"),
                .malformedAnswer(reason: "it sends more than 10 bytes", details: "https://a.example"),
                .unavailable(
                    reason: "it is paused for 600 s: its host failed too often or asked for a pause", retryAfter: 600),
            ])
    }

    func testThatAPluginGetsResponsesOrTheErrorOfASource() async throws {
        // Given a service that answers with an error status, and one that does not answer
        let transport = FakeTransport()
        transport.on("http://a.example/") { _ async throws(HTTPTransportError) in HTTPAnswer(status: 500) }
        transport.on("http://b.example/") { _ async throws(HTTPTransportError) in throw .timedOut(url: "http://b.example/") }
        let context = PluginContext.forTesting(transport: transport)

        // When
        let answer = try await context.get(HTTPRequest(url: "http://a.example/"), under: OriginPolicy())
        do throws(SourceError) {
            _ = try await context.get(HTTPRequest(url: "http://b.example/"), under: OriginPolicy())
            XCTFail("it has not answered")
        } catch {
            XCTAssertEqual(error, .failed(reason: "it did not answer in time", details: "http://b.example"))
        }

        // Then
        XCTAssertEqual(answer.status, 500)
    }

    func testThatVisitorsGetNoDetails() {
        // Given
        let error = SourceError.failed(reason: "the program ended", details: "in /private")

        // When
        let (whole, visitors) = (error.description, error.message)

        // Then
        XCTAssertEqual(whole, "the service is unavailable: the program ended: in /private")
        XCTAssertEqual(visitors, "the service is unavailable: the program ended")
    }

    func testVisitorsGetNoHostOfAService() {
        // Given a service with a private name, which also has the images
        let url = "http://jellyfin.lan:8096/Items/1"
        let errors: [HTTPTransportError] = [
            .timedOut(url: url), .failed(url: url, reason: "refused"), .tooManyRedirects(url: url),
            .forbidden(url: url, reason: "private"), .invalidURL(url), .tooLarge(url: url, limit: 10),
            .unavailable(url: url, retryAfter: 600), .crowded(url: url, retryAfter: 1), .overloaded(url: url),
        ]

        for error in errors {
            // When
            let (question, image) = (Failure.source("films", SourceError(error)), Failure.origin(error))

            // Then neither message names it, and the administrator is told where an image was
            for failure in [question, image] { XCTAssertFalse(failure.message.contains("jellyfin"), failure.message) }
            XCTAssertEqual(image.isOurs, image.details == nil, "\(image)")
            XCTAssertTrue(image.isOurs || image.description.hasSuffix(": http://jellyfin.lan:8096/Items/1"), image.description)
        }
    }

    func testThatNoReasonShowsTheKeyInTheQuery() {
        // Given
        let error = HTTPTransportError.timedOut(url: "https://a.example/x?key=secret")

        // When
        let text = SourceError(error).description

        // Then
        XCTAssertFalse(text.contains("secret"))
    }
}
