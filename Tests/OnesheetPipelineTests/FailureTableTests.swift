import OnesheetCore
import OnesheetImaging
import XCTest

@testable import OnesheetPipeline

/// The judgement of every failure. A line changes only with a decision.
final class FailureTableTests: XCTestCase {
    private static let title = TitleReference(source: "films", id: "1")

    func testEveryFailureIsJudged() {
        for (failure, judgement) in Self.table { XCTAssertEqual(Self.judgement(of: failure), judgement, "\(failure)") }
    }

    func testFailuresOfAPrefetchForItsQuotaAreNotRemembered() {
        let failure = Failure.source("films", .quotaExhausted(until: nil))
        XCTAssertNil(failure.seconds(\.image, isPrefetch: true))
        XCTAssertNil(failure.seconds(\.question, isPrefetch: true))
        XCTAssertEqual(failure.seconds(\.question, isPrefetch: false), 30)
    }

    func testDetailsAreNotInTheMessage() {
        // Given failures with private details
        let failures: [Failure] = [
            .source("films", .failed(reason: "it ended", details: "password")),
            .source("films", .malformedAnswer(reason: "it is no answer", details: "password")),
            .source("films", .unauthorized(message: "password")),
        ]
        for failure in failures {
            // Then only the whole text has them
            XCTAssertFalse(failure.message.contains("password"), failure.message)
            XCTAssertTrue(failure.description.hasSuffix(": password"), failure.description)
        }
    }

    func testHiddenSourcesAreNotNamed() {
        // Given the failure of an address that hides its source
        let failure = Failure.origin(.timedOut(url: "https://secret.example/"))
        // Then its message says nothing of it, and the log gets everything
        XCTAssertFalse(failure.hidingSource.message.contains("secret"))
        XCTAssertTrue(failure.hidingSource.description.contains("secret"))
        // And a failure that names no source stays as it is
        XCTAssertEqual(Failure.overloaded(retryAfter: 1).hidingSource, .overloaded(retryAfter: 1))
    }

    private static func judgement(of failure: Failure) -> String {
        let retry =
            switch failure.retry {
            case .unknown: 0
            case .after(let seconds): seconds
            case .at(let time): Int(time) - 60
            }
        let traits: [(Failure.Traits, String)] = [
            (.allowsStale, "stale"), (.dropsOriginal, "drops"), (.keepsChoice, "keeps choice"), (.keepsOutline, "keeps outline"),
            (.namesNoSource, "names no source"), (.isMissing, "missing"), (.isRefusal, "refusal"), (.isRemoval, "removal"),
            (.pausesPrefetch, "pauses prefetch"),
        ]
        let (image, question) = (
            Int(failure.seconds(\.image, isPrefetch: false) ?? 0), Int(failure.seconds(\.question, isPrefetch: false) ?? 0)
        )
        let numbers = [(retry, "retry \(retry)"), (image, "\(image) s"), (question, "question \(question) s")]
        let words = numbers.filter { $0.0 != 0 }.map(\.1) + traits.filter { failure.traits.contains($0.0) }.map(\.1)
        return (["\(failure.blame), \(failure.status) \(failure.title)"] + words).joined(separator: "; ")
    }

    // swift-format-ignore
    private static let table: [(Failure, String)] = [
        (.unknownSource("films", known: ["art"]), "request, notFound Not found"),
        (.noImage(ImageReference(title)), "request, notFound Not found; 120 s"),
        (.overloaded(retryAfter: 7), "server, unavailable Overloaded; retry 7; stale; names no source"),
        (.timedOut(.seconds(22)), "image, tooSlow Image too slow; 600 s; stale; keeps choice; names no source"),
        (.tooManyRequests(retryAfter: 7), "client, tooManyRequests Too many requests; retry 7; names no source"),
        (.keyIsUsedUp(retryAfter: 7), "client, tooManyRequests Too many requests; retry 7; names no source"),
        (.cancelled, "client, unavailable Cancelled; retry 1; keeps outline; names no source"),
        (.originRefused(url: "u", answer: 403), "origin, badGateway Origin failed; 30 s; refusal; removal"),
        (.originRefused(url: "u", answer: 404), "origin, notFound Not found; 120 s; missing; refusal; removal"),
        (.originRefused(url: "u", answer: 410), "origin, notFound Not found; 120 s; missing; refusal; removal"),
        (.originRefused(url: "u", answer: 429), "origin, badGateway Origin failed; 30 s; stale; keeps choice; refusal"),
        (.originRefused(url: "u", answer: 451), "origin, badGateway Origin failed; 30 s; refusal; removal"),
        (.originRefused(url: "u", answer: 500), "origin, badGateway Origin failed; 30 s; stale; keeps choice; refusal"),
        (.originRefused(url: "u", answer: 501), "origin, badGateway Origin failed; 30 s; keeps choice; refusal"),
        (.originRefused(url: "u", answer: 502), "origin, badGateway Origin failed; 30 s; stale; keeps choice; refusal"),
        (.originRefused(url: "u", answer: 503), "origin, badGateway Origin failed; 30 s; stale; keeps choice; refusal"),
        (.originRefused(url: "u", answer: 504), "origin, badGateway Origin failed; 30 s; stale; keeps choice; refusal"),
        (.source("films", .notFound(id: "1")), "request, notFound Not found; 120 s; question 600 s; missing"),
        (.source("films", .unauthorized(message: "m")), "source, badGateway Source failed; 2 s; question 30 s; stale"),
        (.source("films", .quotaExhausted(until: nil)), "source, unavailable Quota exhausted; retry 3600; 2 s; question 30 s; stale"),
        (.source("films", .quotaExhausted(until: 90)), "source, unavailable Quota exhausted; retry 30; 2 s; stale"),
        (.source("films", .rateLimited(retryAfter: 7)), "source, unavailable Rate limited; retry 7; stale; pauses prefetch"),
        (.source("films", .unavailable(reason: "r")), "source, badGateway Source unavailable; retry 10; 2 s; question 2 s; stale"),
        (
            .source("films", .unavailable(reason: "r", retryAfter: 600)),
            "source, badGateway Source unavailable; retry 600; 2 s; question 2 s; stale"
        ),
        (.source("films", .failed(reason: "r", details: "d")), "source, badGateway Source unavailable; retry 10; 2 s; question 2 s; stale"),
        (.source("films", .overloaded(retryAfter: 7)), "server, unavailable Overloaded; retry 7; stale; names no source"),
        (.source("films", .malformedAnswer(reason: "r")), "source, badGateway Source failed; 2 s; question 30 s; stale"),
        (.source("films", .unsupported("w")), "request, badRequest Not supported by this source; 120 s"),
        (.origin(.forbidden(url: "u", reason: "r")), "request, forbidden Forbidden; 2 s"),
        (.origin(.invalidURL("u")), "request, forbidden Forbidden; 2 s"),
        (.origin(.timedOut(url: "u")), "origin, tooSlow Origin too slow; 2 s; stale; keeps choice"),
        (.origin(.tooLarge(url: "u", limit: 1)), "image, tooLarge Original too large; 2 s; stale"),
        (.origin(.tooManyRedirects(url: "u")), "origin, badGateway Origin failed; 2 s; stale"),
        (.origin(.unavailable(url: "u", retryAfter: 7)), "origin, unavailable Origin unavailable; retry 7; 2 s; stale; keeps choice"),
        (.origin(.failed(url: "u", reason: "r")), "origin, badGateway Origin failed; 2 s; stale; keeps choice"),
        (.render(.unrecognizedFormat), "image, unusable Not a usable image; 30 s; stale; names no source"),
        (.render(.foreignFormat(.html)), "image, unusable Not a usable image; 30 s; stale; names no source"),
        (.render(.codec(.damaged(reason: "r"), .jpeg)), "image, unusable Not a usable image; 30 s; stale; drops; names no source"),
        (.render(.codec(.truncated, .jpeg)), "image, unusable Not a usable image; 30 s; stale; drops; names no source"),
        (.render(.codec(.tooManyPixels(width: 2, height: 3, limit: 1), .jpeg)), "image, unusable Not a usable image; 30 s; stale; names no source"),
        (.render(.codec(.tooManyScans(limit: 1), .jpeg)), "image, unusable Not a usable image; 30 s; stale; names no source"),
        (.render(.codec(.unsupported("w"), .jpeg)), "image, unusable Not a usable image; 30 s; stale; names no source"),
        (.render(.codec(.outOfMemory, .jpeg)), "image, unusable Not a usable image; 30 s; stale; names no source"),
        (.render(.codec(.timedOut, .jpeg)), "image, unusable Not a usable image; 30 s; stale; names no source"),
        (.render(.tooManyOutputPixels(width: 2, height: 3, limit: 1)), "request, badRequest Bad request; 30 s; stale; names no source"),
        (.render(.outside(width: 2, height: 3)), "request, badRequest Bad request; 30 s; stale; names no source"),
        (.render(.tooMuchMemory(bytes: 2, limit: 1)), "image, unusable Not a usable image; 30 s; stale; names no source"),
        (.render(.tooManyBytes(bytes: 2, limit: 1)), "image, unusable Not a usable image; 30 s; stale; names no source"),
        (.render(.noEncoder(for: .png)), "request, badRequest Bad request; 30 s; stale; keeps outline; names no source"),
        (.render(.otherWatermark), "request, badRequest Bad request; 30 s; stale; keeps outline; names no source"),
        (.render(.timedOut(after: .seconds(20))), "image, tooSlow Rendering too slow; 600 s; stale; drops; keeps choice; names no source"),
        (.render(.tooSlow(after: .seconds(20))), "image, tooSlow Rendering too slow; 600 s; stale; keeps choice; names no source"),
        (.render(.noProcess(retryAfter: 7)), "server, unavailable Cannot render; retry 7; stale; keeps outline; names no source"),
        (.render(.lost(.crash)), "image, unusable Not a usable image; 30 s; stale; drops; names no source"),
        (.render(.lost(.memory)), "image, unusable Not a usable image; 30 s; stale; drops; names no source"),
        (.render(.lost(.forbidden)), "image, unusable Not a usable image; 30 s; stale; drops; names no source"),
        (.render(.lost(.deadline)), "image, unusable Not a usable image; 30 s; stale; drops; names no source"),
        (.render(.lost(.stalled)), "image, unusable Not a usable image; 30 s; stale; drops; names no source"),
        (.render(.lost(.garbage)), "image, unusable Not a usable image; 30 s; stale; drops; names no source"),
        (.render(.lost(.killed)), "server, unavailable Render process lost; retry 1; stale; names no source"),
        (.originRefused(url: "u", answer: 404, keepsRemoved: true), "origin, notFound Not found; 120 s; stale; missing; refusal"),
        (.originRefused(url: "u", answer: 451, keepsRemoved: true), "origin, badGateway Origin failed; 30 s; stale; refusal"),
        (.originRefused(url: "u", answer: 521), "origin, badGateway Origin failed; 30 s; stale; keeps choice; refusal"),
    ]
}
