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
                .unavailable(reason: "https://a.example did not answer in time"),
                .unavailable(reason: "https://a.example cannot be fetched: refused"),
                .unavailable(reason: "https://a.example redirects too often"),
                .unavailable(reason: "https://a.example may not be fetched: private"),
                .unavailable(reason: "what is to be fetched is not an http or https URL"),
                .malformedAnswer(reason: "https://a.example sends more than 10 bytes"),
                .unavailable(
                    reason: "https://a.example failed too often or asked for a pause; try again in 600 s", retryAfter: 600),
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
            XCTAssertEqual(error, .unavailable(reason: "http://b.example did not answer in time"))
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

    func testThatNoReasonShowsTheKeyInTheQuery() {
        // Given
        let error = HTTPTransportError.timedOut(url: "https://a.example/x?key=secret")

        // When
        let text = SourceError(error).description

        // Then
        XCTAssertFalse(text.contains("secret"))
    }
}
