import OnesheetHTTP
import HTTPTypes
import OnesheetCore
import OnesheetImaging
import OnesheetPipeline
import XCTest

@testable import OnesheetServer

/// Problem documents for failed renders.
final class RenderProblemTests: XCTestCase {
    private func problem(_ error: RenderError) -> Problem { Problem(Failure.render(error), at: 0) }

    func testThatARenderThatTakesTooLongIsAGatewayTimeout() {
        // When
        let problem = problem(.timedOut(after: .seconds(20)))
        // Then
        XCTAssertEqual(problem.status, .gatewayTimeout)
        XCTAssertEqual(problem.title, "Rendering too slow")
        XCTAssertEqual(problem.detail, "the image was not made within 20.0 seconds")
    }

    func testThatAnotherErrorOfACodecIsNot() {
        XCTAssertEqual(problem(.codec(.truncated, .jpeg)).status, .unprocessableContent)
        XCTAssertEqual(problem(.tooMuchMemory(bytes: 2, limit: 1)).status, .unprocessableContent)
    }

    func testThatTheDeadlineIsTheConfigurations() throws {
        let text = "rendering: { deadline: 1500ms }\nsources: { a: { type: sample } }"
        let configuration = try ConfigurationFile(environment: [:]).parse(text)
        XCTAssertEqual(try configuration.rendering.renderer(CodecSet(codecs: []), Limits()).deadline, .milliseconds(1500))
        XCTAssertEqual(try ServerConfiguration().rendering.renderer(CodecSet(codecs: []), Limits()).deadline, .seconds(20))
    }
}
