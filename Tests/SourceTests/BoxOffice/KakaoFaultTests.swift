import ConfigurationYAML
import FoundationEssentials
import BoxOfficeSource
import OnesheetCore
import OnesheetTesting
import XCTest

final class KakaoFaultTests: XCTestCase {
    private func failure(_ transport: FakeTransport, _ phrase: String = "광해 포스터") async throws -> SourceError? {
        let source = try KakaoSource(.init(key: "k"), context: .forTesting(transport: transport))
        do throws(SourceError) {
            _ = try await source.candidates(for: phrase)
            return nil
        } catch {
            return error
        }
    }

    func testThatFaultsBecomeTheReasonsTheyMean() async throws {
        // Given status, body, reason
        let cases: [(Int, String, SourceError)] = [
            (401, RecordedKakao.badKey, .unauthorized(message: "ip mismatched! callerIp=192.0.2.1. check out registered ips.")),
            (400, RecordedKakao.badKey, .unauthorized(message: "ip mismatched! callerIp=192.0.2.1. check out registered ips.")),
            (401, RecordedKakao.gateway, .unauthorized(message: "wrong appKey(x) format")),
            (403, "", .unauthorized(message: "HTTP status 403")),
            (400, RecordedKakao.quota, .quotaExhausted(until: 1_795_273_200)),
            (429, "", .quotaExhausted(until: nil)),
            (503, "<html></html>", .unavailable(reason: "Kakao returned HTTP status 503")),
            (500, #"{"code":-1,"msg":"internal"}"#, .failed(reason: "Kakao returned 500", details: "internal")),
            (
                400, #"{"code":-2,"msg":"size is more than max"}"#,
                .malformedAnswer(reason: "Kakao rejected the search (-2)", details: "size is more than max")
            ),
            (204, "", .malformedAnswer(reason: "Kakao returned HTTP status 204")),
        ]

        for (status, body, expected) in cases {
            // When
            let error = try await failure(RecordedKakao.transport(status: status, body))

            // Then
            XCTAssertEqual(error, expected, "\(status) \(body)")
        }
    }

    func testThatAnAnswerOfAnotherShapeIsMalformed() async throws {
        // Given
        let bodies = [
            "", "{}", "[]", "<html></html>", #"{"documents":[{}],"meta":{"is_end":true,"pageable_count":0,"total_count":0}}"#,
        ]

        for body in bodies {
            // When
            let error = try await failure(RecordedKakao.transport(body))

            // Then
            guard case .malformedAnswer? = error else { return XCTFail("\(body): \(String(describing: error))") }
        }
    }

    func testDamagedResultDoesNotTakeTheOthersWithIt() async throws {
        // Given results of which one has no picture
        let damaged = RecordedKakao.answer.split(separator: "image_url", maxSplits: 1).joined(separator: "picture")
        let source = try KakaoSource(
            .init(key: "k3y"), context: .forTesting(transport: RecordedKakao.transport(damaged), clock: ManualClock()))
        // When
        let candidates = try await source.candidates(for: "광해 포스터")
        // Then the others are there
        XCTAssertEqual(candidates.count, RecordedKakao.hits.count - 1)
    }

    func testThatNobodyAsksAgainBeforeTheQuotaFills() async throws {
        // Given
        let clock = ManualClock()
        let transport = RecordedKakao.transport(status: 400, RecordedKakao.quota)
        let source = try KakaoSource(.init(key: "k"), context: .forTesting(transport: transport, clock: clock))
        for _ in 0..<3 {
            do throws(SourceError) {
                _ = try await source.candidates(for: "x")
                XCTFail("it answered")
            } catch {
                XCTAssertEqual(error, .quotaExhausted(until: 1_795_273_200))
            }
        }
        XCTAssertEqual(transport.count(), 1)

        // When
        clock.now = Date(timeIntervalSince1970: 1_795_273_200)
        transport.on(RecordedKakao.search, RecordedKakao.answer)
        let candidates = try await source.candidates(for: "x")

        // Then
        XCTAssertFalse(candidates.isEmpty)
        XCTAssertEqual(transport.count(), 2)
    }

    func testThatAPhraseWithoutWordsCostsNoCall() async throws {
        // Given
        let transport = RecordedKakao.transport()

        for phrase in ["", " ", "?!", String(repeating: "x", count: 1001)] {
            // When
            let error = try await failure(transport, phrase)

            // Then
            XCTAssertEqual(error, .notFound(id: phrase))
        }
        XCTAssertEqual(transport.count(), 0)
    }

    func testThatAConfigurationThatCannotBeUsedIsRefused() throws {
        // Given
        let cases = [
            ("key: ''", "key: is empty; it is the REST API key from developers.kakao.com"), ("{}", "“key” is missing"),
            ("key: k\nbaseURL: dapi", "baseURL: “dapi” is not a URL such as https://dapi.kakao.com"),
            ("key: k\nkeys: k", "unknown key “keys”; did you mean “key”?"),
        ]

        for (yaml, expected) in cases {
            // When
            let make = {
                try KakaoSource(
                    try ConfigurationDecoder().decode(KakaoSource.Configuration.self, from: try ConfigurationValue(yaml: yaml)),
                    context: .forTesting())
            }

            // Then
            XCTAssertThrowsError(try make()) { XCTAssertEqual("\($0)", expected) }
        }
    }

    func testThatTheSampleConfigurationWorks() throws {
        // Given
        let value = try ConfigurationValue(yaml: KakaoSource.sampleConfiguration)

        // When
        let configuration = try ConfigurationDecoder().decode(KakaoSource.Configuration.self, from: value)

        // Then
        XCTAssertEqual(configuration.key, "${KAKAO_KEY}")
        XCTAssertEqual(configuration.http.rate, 10)
        XCTAssertNoThrow(try KakaoSource(configuration, context: .forTesting()))
    }
}
