import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

/// What the pipeline does with originals whose time is up (RFC 9111, RFC 5861).
final class FreshnessTests: XCTestCase {
    private let transport = FakeTransport()
    private let clock = ManualClock()
    private let url = "http://127.0.0.1/1.jpg"
    private let request: ImageRequest = {
        var transform = Transform()
        transform.width = 40
        return ImageRequest(TitleReference(source: "films", id: "1"), transform)
    }()

    func testThatAFreshVariantAsksNobody() async throws {
        // Given an original that is fresh for a minute
        let pipeline = try pipeline(cacheControl: "max-age=60")
        _ = try await pipeline.image(for: request)
        // When its variant is asked for in that minute
        clock.advance(by: .seconds(59))
        let answer = try await pipeline.image(for: request)
        // Then nobody is asked
        XCTAssertEqual(answer.origin, .tier("memory"))
        XCTAssertEqual(transport.count(), 1)
    }

    func testThatAnUnchangedOriginalKeepsItsVariants() async throws {
        // Given an original with a tag whose minute is up
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0", tag: "\"a\"")
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.on(url) { request in
            HTTPAnswer(status: request.headers["if-none-match"] == "\"a\"" ? 304 : 500, headers: ["cache-control": "max-age=60"])
        }
        // When its variant is asked for, and once more
        let second = try await pipeline.image(for: request)
        let third = try await pipeline.image(for: request)
        // Then the origin was asked whether it changed, and nothing was rendered again
        XCTAssertEqual(second.origin, .revalidated)
        XCTAssertEqual(second.entry.body, first.entry.body)
        XCTAssertEqual(third.origin, .tier("memory"))
        XCTAssertEqual(pipeline.figures.counts.renders, 1)
        XCTAssertEqual(transport.count(), 2)
    }

    func testThatAChangedOriginalReplacesEveryVariant() async throws {
        // Given two variants of an original whose minute is up, and another picture in its place
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0", tag: "\"a\"")
        var other = request.transform
        other.width = 20
        let otherRequest = ImageRequest(request.title, other)
        let first = try await pipeline.image(for: request)
        _ = try await pipeline.image(for: otherRequest)
        clock.advance(by: .seconds(61))
        let changed = try Pipeline.picture(shade: 90)
        transport.on(url) { _ in HTTPAnswer(status: 200, headers: ["cache-control": "max-age=60"], body: changed) }
        // When one of them is asked for
        let second = try await pipeline.image(for: request)
        // Then it is of the new picture, and so is the other
        XCTAssertEqual(second.origin, .made)
        XCTAssertNotEqual(second.entry.body, first.entry.body)
        let again = try await pipeline.image(for: otherRequest)
        XCTAssertEqual(again.origin, .made)
        XCTAssertEqual(transport.count(), 2)
    }

    func testThatAStaleVariantServesWhileItsOriginIsAsked() async throws {
        // Given a variant that may be served stale for a minute, and an origin that takes its time
        let gate = Gate()
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=60", tag: "\"a\"")
        _ = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.hold(url, at: gate) { _ in HTTPAnswer(status: 304, headers: ["cache-control": "max-age=60"]) }
        // When it is asked for
        let answer = try await pipeline.image(for: request)
        // Then it comes at once, and the origin is asked behind it
        XCTAssertEqual(answer.origin, .tier("memory"))
        await gate.hasBeenReached()
        gate.open()
    }

    func testThatHitsOnStaleVariantsBeginOneRefreshEachAndOnlySoManyInAll() async throws {
        // Given two sizes that may be served stale, room for one refresh, and an origin that takes its time
        let (gate, background) = (Gate(), BackgroundTasks(limit: 1))
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=60", tag: "\"a\"", background: background)
        var other = Transform()
        other.width = 33
        let otherRequest = ImageRequest(request.title, other)
        for request in [request, otherRequest] { _ = try await pipeline.image(for: request) }
        clock.advance(by: .seconds(61))
        transport.hold(url, at: gate) { _ in HTTPAnswer(status: 304, headers: ["cache-control": "max-age=60"]) }
        // When the first is asked for a hundred times, and then the second
        for _ in 0..<100 { _ = try await pipeline.image(for: request) }
        XCTAssertEqual([background.underWay, background.skipped], [1, 0])
        let answer = try await pipeline.image(for: otherRequest)
        // Then one refresh is under way, and the second was answered without one
        XCTAssertEqual(answer.origin, .tier("memory"))
        XCTAssertEqual([background.underWay, background.skipped], [1, 1])
        gate.open()
        await waitWhile(background.underWay > 0)
        // And its next hit begins it
        _ = try await pipeline.image(for: otherRequest)
        await waitWhile(background.underWay > 0)
        XCTAssertEqual(background.skipped, 1)
    }

    func testThatAfterTheClockWasSetBackTheOriginIsAsked() async throws {
        // Given a picture of a week ago, that the origin was asked about today
        let pipeline = try pipeline(cacheControl: "max-age=60", tag: "\"a\"")
        _ = try await pipeline.image(for: request)
        clock.advance(by: .seconds(6 * 86_400))
        transport.on(url) { _ in HTTPAnswer(status: 304, headers: ["cache-control": "max-age=60"]) }
        _ = try await pipeline.image(for: request)
        XCTAssertEqual(transport.count(), 2)
        // When the clock is set back by three days
        clock.advance(by: .seconds(-3 * 86_400))
        // Then it is not fresh for three days and a minute
        let answer = try await pipeline.image(for: request)
        XCTAssertEqual(answer.origin, .revalidated)
        XCTAssertEqual(transport.count(), 3)
    }

    func testThatManyWhoGetAStaleVariantCauseOneRequestToTheOrigin() async throws {
        // Given a variant that may be served stale for a minute, and an origin that has another picture and takes its time
        let (gate, changed) = (Gate(), try Pipeline.picture(shade: 90))
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=60", tag: "\"a\"")
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.hold(url, at: gate) { _ in HTTPAnswer(status: 200, headers: ["cache-control": "max-age=600"], body: changed) }
        // When it is asked for twenty times
        for _ in 0..<20 {
            let answer = try await pipeline.image(for: request)
            // Then the stale one comes at once
            XCTAssertEqual(answer.origin, .tier("memory"))
            XCTAssertEqual(answer.entry.body, first.entry.body)
        }
        await gate.hasBeenReached()
        // And whoever comes when it may not be served any more waits for what is under way already
        clock.advance(by: .seconds(60))
        let waiting = Task { [request] in try await pipeline.image(for: request) }
        gate.open()
        let renewed = try await waiting.value
        XCTAssertNotEqual(renewed.entry.body, first.entry.body)
        // And the origin was asked once, and the new one is there for all
        let next = try await pipeline.image(for: request)
        XCTAssertEqual(next.origin, .tier("memory"))
        XCTAssertEqual(next.entry.body, renewed.entry.body)
        XCTAssertEqual(transport.count(), 2)
        XCTAssertEqual(gate.arrived, 1)
    }

    func testThatAStaleVariantServesWhenTheOriginFails() async throws {
        // Given an original whose minute is up, and an origin that is down
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0, stale-if-error=600", tag: "\"a\"")
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.failNext(.timedOut(url: url))
        // When its variant is asked for
        let second = try await pipeline.image(for: request)
        // Then the old one serves
        XCTAssertEqual(second.entry.body, first.entry.body)
    }

    func testThatAStaleVariantDoesNotOutliveItsTime() async throws {
        // Given an original whose minute is up, also for errors, and an origin that is down
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0, stale-if-error=0", tag: "\"a\"")
        _ = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.failNext(.timedOut(url: url))
        do throws(PipelineError) {
            // When its variant is asked for
            _ = try await pipeline.image(for: request)
            XCTFail("nothing was thrown")
        } catch {
            // Then the failure is told
            XCTAssertEqual(error, .origin(.timedOut(url: url)))
        }
    }

    func testThatWhatMayNotBeStoredIsNot() async throws {
        for directive in ["no-store", "private"] {
            // Given an original that forbids it
            let transport = FakeTransport()
            let pipeline = try pipeline(cacheControl: directive, transport)
            // When it is asked for twice
            _ = try await pipeline.image(for: request)
            let answer = try await pipeline.image(for: request)
            // Then it is fetched twice
            XCTAssertEqual(answer.origin, .made, directive)
            XCTAssertEqual(transport.count(), 2, directive)
        }
    }

    func testThatTheConfiguredMinimumHoldsForAnOriginThatSaysLess() async throws {
        // Given an origin that says ten seconds, and a source that is configured with a minute
        var freshness = FreshnessSettings()
        freshness.minimum = Interval(.seconds(60))
        let pipeline = try pipeline(cacheControl: "max-age=10, stale-while-revalidate=0", freshness: freshness)
        _ = try await pipeline.image(for: request)
        // When half a minute, and then the whole is over
        clock.advance(by: .seconds(30))
        _ = try await pipeline.image(for: request)
        let inTime = transport.count()
        clock.advance(by: .seconds(31))
        _ = try await pipeline.image(for: request)
        // Then the origin was asked again only then
        XCTAssertEqual([inTime, transport.count()], [1, 2])
    }

    private func pipeline(
        cacheControl: String, tag: String? = nil, freshness: FreshnessSettings = FreshnessSettings(), _ other: FakeTransport? = nil,
        background: BackgroundTasks = BackgroundTasks()
    ) throws -> Pipeline {
        let transport = other ?? transport
        let picture = try Pipeline.picture()
        var headers = ["cache-control": cacheControl]
        headers["etag"] = tag
        transport.on(url) { [headers] _ in HTTPAnswer(status: 200, headers: headers, body: picture) }
        let source = ScriptedSource(freshness: freshness) { [url] _ in [PosterCandidate(.http(url: url))] }
        return try .forTesting(
            source, transport: transport, clock: clock, pool: RenderPool(workers: 2, queue: 8), background: background, case: self)
    }
}
