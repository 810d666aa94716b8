import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

/// Stale originals in the pipeline (RFC 9111, RFC 5861).
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
        // When its variant is requested within that minute
        clock.advance(by: .seconds(59))
        let answer = try await pipeline.image(for: request)
        // Then no request is sent
        XCTAssertEqual(answer.origin, .memory)
        XCTAssertEqual(transport.count(), 1)
    }

    func testThatAnUnchangedOriginalKeepsItsVariants() async throws {
        // Given a stale original with an entity tag
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0", tag: "\"a\"")
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.on(url) { request in
            HTTPAnswer(status: request.headers["if-none-match"] == "\"a\"" ? 304 : 500, headers: ["cache-control": "max-age=60"])
        }
        // When its variant is requested, and again
        let second = try await pipeline.image(for: request)
        let third = try await pipeline.image(for: request)
        // Then the origin was asked once, and nothing was rendered again
        XCTAssertEqual(second.origin, .revalidated)
        XCTAssertEqual(second.entry.body, first.entry.body)
        XCTAssertEqual(third.origin, .memory)
        XCTAssertEqual(pipeline.metrics.counts.renders, 1)
        XCTAssertEqual(transport.count(), 2)
    }

    func testA304AboutAnotherPictureConfirmsNothing() async throws {
        // Given a stale original, and an origin whose 304 has another tag
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0", tag: "\"a\"")
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        let changed = try Pipeline.picture(shade: 90)
        transport.on(url) { request in
            let headers = ["cache-control": "max-age=60", "etag": "\"b\""]
            return request.headers.isEmpty
                ? HTTPAnswer(status: 200, headers: headers, body: changed) : HTTPAnswer(status: 304, headers: headers)
        }
        // When its variant is requested
        let second = try await pipeline.image(for: request)
        // Then the origin is asked once more, without a condition
        XCTAssertNotEqual(second.entry.body, first.entry.body)
        XCTAssertEqual(transport.count(), 3)
    }

    func testUnstorableOriginalReplacesTheStoredOne() async throws {
        // Given a stale original, and another picture in its place that may not be stored
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0, stale-if-error=600", tag: "\"a\"")
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        let changed = try Pipeline.picture(shade: 90)
        transport.on(url) { _ in HTTPAnswer(status: 200, headers: ["cache-control": "no-store"], body: changed) }
        let second = try await pipeline.image(for: request)
        XCTAssertNotEqual(second.entry.body, first.entry.body)
        // When the origin fails, then the old picture does not come back
        transport.on(url) { _ in HTTPAnswer(status: 503, headers: [:]) }
        do {
            let third = try await pipeline.image(for: request)
            XCTFail("\(third.origin)")
        } catch {
            XCTAssertEqual(error.blame, .origin)
        }
    }

    func testThatAChangedOriginalReplacesEveryVariant() async throws {
        // Given two variants of a stale original, and another picture in its place
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0", tag: "\"a\"")
        var other = request.transform
        other.width = 20
        let otherRequest = ImageRequest(request.title, other)
        let first = try await pipeline.image(for: request)
        _ = try await pipeline.image(for: otherRequest)
        clock.advance(by: .seconds(61))
        let changed = try Pipeline.picture(shade: 90)
        transport.on(url) { _ in HTTPAnswer(status: 200, headers: ["cache-control": "max-age=60"], body: changed) }
        // When one of them is requested
        let second = try await pipeline.image(for: request)
        // Then both show the new picture
        XCTAssertEqual(second.origin, .made)
        XCTAssertNotEqual(second.entry.body, first.entry.body)
        let again = try await pipeline.image(for: otherRequest)
        XCTAssertEqual(again.origin, .made)
        XCTAssertEqual(transport.count(), 2)
    }

    func testThatAStaleVariantServesWhileItsOriginIsAsked() async throws {
        // Given a variant that may be served stale for a minute, and a slow origin
        let gate = Gate()
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=60", tag: "\"a\"")
        _ = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.hold(url, at: gate) { _ in HTTPAnswer(status: 304, headers: ["cache-control": "max-age=60"]) }
        // When it is requested
        let answer = try await pipeline.image(for: request)
        // Then it is served immediately, and the origin is asked in the background
        XCTAssertEqual(answer.origin, .memory)
        await gate.hasBeenReached()
        gate.open()
    }

    func testThatHitsOnStaleVariantsBeginOneRefreshEachAndOnlySoManyInAll() async throws {
        // Given two sizes that may be served stale, room for one refresh, and a slow origin
        let (gate, background) = (Gate(), BackgroundTasks(limit: 1))
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=60", tag: "\"a\"", background: background)
        var other = Transform()
        other.width = 33
        let otherRequest = ImageRequest(request.title, other)
        for request in [request, otherRequest] { _ = try await pipeline.image(for: request) }
        clock.advance(by: .seconds(61))
        transport.hold(url, at: gate) { _ in HTTPAnswer(status: 304, headers: ["cache-control": "max-age=60"]) }
        // When the first is requested a hundred times, and then the second
        for _ in 0..<100 { _ = try await pipeline.image(for: request) }
        XCTAssertEqual([background.underWay, background.skipped], [1, 0])
        let answer = try await pipeline.image(for: otherRequest)
        // Then one refresh is running, and the second was served without one
        XCTAssertEqual(answer.origin, .memory)
        XCTAssertEqual([background.underWay, background.skipped], [1, 1])
        gate.open()
        await waitWhile(background.underWay > 0)
        // And its next hit starts it
        _ = try await pipeline.image(for: otherRequest)
        await waitWhile(background.underWay > 0)
        XCTAssertEqual(background.skipped, 1)
    }

    func testThatAStalePictureOfACandidateIsServedWhileItIsRenewed() async throws {
        // Given a candidate's picture that may be served stale
        let background = BackgroundTasks()
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=60", background: background)
        let looked = ImageRequest(request.image, request.transform, of: PosterCandidate(.http(url: url)))
        let first = try await pipeline.image(for: looked)
        clock.advance(by: .seconds(61))
        // When it is looked at again
        let second = try await pipeline.image(for: looked)
        await waitWhile(background.underWay > 0)
        let third = try await pipeline.image(for: looked)
        // Then it comes from the tier, is fetched once in the background, and is not rendered again
        XCTAssertEqual([first.origin, second.origin, third.origin], [.made, .memory, .memory])
        XCTAssertEqual(third.entry.state(at: clock.wallClock.now), .fresh)
        XCTAssertEqual(transport.count(), 2)
        XCTAssertEqual(pipeline.metrics.counts.renders, 1)
    }

    func testThatAfterTheClockWasSetBackTheOriginIsAsked() async throws {
        // Given a picture of a week ago that was revalidated today
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
        // Given a variant that may be served stale for a minute, and a slow origin with another picture
        let (gate, changed) = (Gate(), try Pipeline.picture(shade: 90))
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=60", tag: "\"a\"")
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.hold(url, at: gate) { _ in HTTPAnswer(status: 200, headers: ["cache-control": "max-age=600"], body: changed) }
        // When it is requested twenty times
        for _ in 0..<20 {
            let answer = try await pipeline.image(for: request)
            // Then the stale one is served immediately
            XCTAssertEqual(answer.origin, .memory)
            XCTAssertEqual(answer.entry.body, first.entry.body)
        }
        await gate.hasBeenReached()
        // And after that minute, requests wait for the running refresh
        clock.advance(by: .seconds(60))
        let waiting = Task { [request] in try await pipeline.image(for: request) }
        gate.open()
        let renewed = try await waiting.value
        XCTAssertNotEqual(renewed.entry.body, first.entry.body)
        // And the origin was asked once, and all get the new one
        let next = try await pipeline.image(for: request)
        XCTAssertEqual(next.origin, .memory)
        XCTAssertEqual(next.entry.body, renewed.entry.body)
        XCTAssertEqual(transport.count(), 2)
        XCTAssertEqual(gate.arrived, 1)
    }

    func testThatAStaleVariantServesWhenTheOriginFails() async throws {
        // Given a stale original and a failing origin
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0, stale-if-error=600", tag: "\"a\"")
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.failNext(.timedOut(url: url))
        // When its variant is requested
        let second = try await pipeline.image(for: request)
        // Then the stale one is served
        XCTAssertEqual(second.entry.body, first.entry.body)
    }

    func testThatARememberedFailureIsBridgedToo() async throws {
        // Given a stale original whose origin refuses it, which is remembered
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0, stale-if-error=600", tag: "\"a\"")
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.on(url, status: 503, "")
        _ = try await pipeline.image(for: request)
        let asked = transport.count()
        // When its variant is requested again, and another one
        let second = try await pipeline.image(for: request)
        var other = request.transform
        other.width = 20
        let third = try await pipeline.image(for: ImageRequest(request.title, other))
        // Then the stale original serves both, and its origin is not asked
        XCTAssertEqual(second.origin, .staleOnError)
        XCTAssertEqual(second.entry.body, first.entry.body)
        XCTAssertEqual(third.entry.presentation.width, 20)
        XCTAssertEqual(transport.count(), asked)
    }

    func testThatAStaleVariantDoesNotOutliveItsTime() async throws {
        // Given an original that may not be served stale on errors, and a failing origin
        let pipeline = try pipeline(cacheControl: "max-age=60, stale-while-revalidate=0, stale-if-error=0", tag: "\"a\"")
        _ = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        transport.failNext(.timedOut(url: url))
        do throws(Failure) {
            // When its variant is requested
            _ = try await pipeline.image(for: request)
            XCTFail("nothing was thrown")
        } catch {
            // Then the request fails
            XCTAssertEqual(error, .origin(.timedOut(url: url)))
        }
    }

    func testRemovedPictureIsServedNoMore() async throws {
        for status in [403, 404, 410, 451] {
            // Given a stale picture, which may be served if its origin fails, and two of its sizes
            let transport = FakeTransport()
            let pipeline = try pipeline(
                cacheControl: "max-age=60, stale-while-revalidate=0, stale-if-error=600", tag: "\"a\"", transport)
            let other = ImageRequest(request.title, Transform())
            _ = try await pipeline.images(for: [request, other])
            clock.advance(by: .seconds(61))
            // When its owner has removed it
            transport.on(url, status: status, "")
            // Then neither the size nor a new one is served
            var transform = request.transform
            transform.width = 20
            for asked in [request, ImageRequest(request.title, transform)] {
                do throws(Failure) {
                    _ = try await pipeline.image(for: asked)
                    XCTFail("\(status) is ignored")
                } catch {
                    XCTAssertEqual(error, .originRefused(url: url, answer: status))
                }
            }
            // And nothing of it is left
            for key in [request.key, other.key, ImageRequest.originalKey(request.image)] {
                let isThere = await pipeline.cache.contains(key)
                XCTAssertFalse(isThere, "\(status): \(key)")
            }
        }
    }

    func testRemovedPictureIsServedIfTheConfigurationKeepsIt() async throws {
        // Given a stale picture of a source that keeps what is removed
        var freshness = FreshnessSettings()
        freshness.keepsRemoved = true
        let pipeline = try pipeline(
            cacheControl: "max-age=60, stale-while-revalidate=0, stale-if-error=600", tag: "\"a\"", freshness: freshness)
        let first = try await pipeline.image(for: request)
        clock.advance(by: .seconds(61))
        // When its owner has removed it, then it is served as long as for a failure
        transport.on(url, status: 410, "")
        let second = try await pipeline.image(for: request)
        XCTAssertEqual(second.entry.body, first.entry.body)
        XCTAssertEqual(second.origin, .staleOnError)
    }

    func testAnswersThatAreNoFailureDoNotServeAStalePicture() async throws {
        for (status, isServed) in [(500, true), (502, true), (504, true), (521, true), (429, true), (400, false), (501, false)] {
            // Given a stale picture
            let transport = FakeTransport()
            let pipeline = try pipeline(
                cacheControl: "max-age=60, stale-while-revalidate=0, stale-if-error=600", tag: "\"a\"", transport)
            _ = try await pipeline.image(for: request)
            clock.advance(by: .seconds(61))
            // When its origin answers with this status
            transport.on(url, status: status, "")
            let answer = try? await pipeline.image(for: request)
            // Then the stale one is served after an error of RFC 5861 §4 only
            XCTAssertEqual(answer != nil, isServed, "\(status)")
        }
    }

    func testARefusalEndsTheTimeInWhichAStalePictureIsServed() async throws {
        for (status, isServed) in [(503, true), (521, true), (429, true), (400, false), (401, false), (418, false), (501, false)] {
            // Given a stale picture that may be served while it is revalidated
            let (transport, background) = (FakeTransport(), BackgroundTasks())
            let pipeline = try pipeline(
                cacheControl: "max-age=60, stale-while-revalidate=3600, stale-if-error=0", tag: "\"a\"", transport,
                background: background)
            _ = try await pipeline.image(for: request)
            clock.advance(by: .seconds(61))
            // When its origin answers with this status
            transport.on(url, status: status, "")
            let stale = try await pipeline.image(for: request)
            XCTAssertEqual(stale.origin, .memory, "\(status)")
            await waitWhile(background.underWay > 0)
            // Then it is served again after an error only, also when the failure is forgotten
            for pause in [0, 31] {
                clock.advance(by: .seconds(pause))
                let answer = try? await pipeline.image(for: request)
                await waitWhile(background.underWay > 0)
                XCTAssertEqual(answer != nil, isServed, "\(status) after \(pause) s")
            }
            // And if the origin has it again, nothing is rendered again
            transport.on(url) { _ in HTTPAnswer(status: 304, headers: ["cache-control": "max-age=60"]) }
            clock.advance(by: .seconds(31))
            _ = try await pipeline.image(for: request)
            await waitWhile(background.underWay > 0)
            let fresh = try await pipeline.image(for: request)
            XCTAssertEqual(fresh.entry.state(at: clock.now), .fresh, "\(status)")
            XCTAssertEqual(pipeline.metrics.counts.renders, 1, "\(status)")
        }
    }

    func testThatWhatMayNotBeStoredIsNot() async throws {
        for directive in ["no-store", "private"] {
            // Given an original that must not be stored
            let transport = FakeTransport()
            let pipeline = try pipeline(cacheControl: directive, transport)
            // When it is requested twice
            _ = try await pipeline.image(for: request)
            let answer = try await pipeline.image(for: request)
            // Then it is fetched twice
            XCTAssertEqual(answer.origin, .made, directive)
            XCTAssertEqual(transport.count(), 2, directive)
        }
    }

    func testThatTheConfiguredMinimumHoldsForAnOriginThatSaysLess() async throws {
        // Given an origin with ten seconds, and a source configured with a minute
        var freshness = FreshnessSettings()
        freshness.minimum = Interval(.seconds(60))
        let pipeline = try pipeline(cacheControl: "max-age=10, stale-while-revalidate=0", freshness: freshness)
        _ = try await pipeline.image(for: request)
        // When half a minute, and then the whole minute has passed
        clock.advance(by: .seconds(30))
        _ = try await pipeline.image(for: request)
        let inTime = transport.count()
        clock.advance(by: .seconds(31))
        _ = try await pipeline.image(for: request)
        // Then the origin was asked only after the whole minute
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
