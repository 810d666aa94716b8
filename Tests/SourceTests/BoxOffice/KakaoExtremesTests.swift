import BoxOfficeSource
import OnesheetCore
import OnesheetTesting
import XCTest

final class KakaoExtremesTests: XCTestCase {
    func testThatNoValueOfKakaosTraps() async throws {
        // Given a response of Kakao with two hits, and an error, with each extreme value in each position
        let answer =
            #"{"documents":[{"collection":"blog","datetime":"2020-01-01T09:30:00.000+09:00","display_sitename":"s","doc_url":"http://b.example/","#
            + #""height":909,"image_url":"http://b.example/1","thumbnail_url":"http://b.example/2","width":633},"#
            + #"{"collection":"news","height":10,"image_url":"http://b.example/3","width":20}],"#
            + #""meta":{"is_end":false,"pageable_count":3905,"total_count":1153412}}"#
        for (status, document) in [(200, answer), (400, RecordedKakao.quota), (401, RecordedKakao.gateway)] {
            for variant in ExtremeJSON.variants(of: document) {
                // When it is asked
                let transport = RecordedKakao.transport(status: status, variant)
                let source = try KakaoSource(.init(key: "k"), context: .forTesting(transport: transport))
                // Then the result is usable
                let problems = await AnswerTrial.problems(of: source, id: "광해 포스터")
                XCTAssertEqual(problems, [], variant)
            }
        }
    }

    func testThatPicturesMayBeLargerThanAnswers() throws {
        let source = try KakaoSource(.init(key: "k"), context: .forTesting())
        XCTAssertNil(source.originPolicy.maxBytes)
    }
}
