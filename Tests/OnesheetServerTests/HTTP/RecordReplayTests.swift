import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Responses of services that are recorded and replayed, without keys and a network.
final class RecordReplayTests: ServerTestCase {
    private let sources = """
        boxoffice: { type: boxoffice, key: "${KOBIS_KEY}", baseURL: "BASE/kobis", networks: [loopback], \
        posters: { type: kakao, key: "${KAKAO_KEY}", baseURL: "BASE/kakao", networks: [loopback] } }
        """
    private let secrets = ["KOBIS_KEY": "kobis/secret", "KAKAO_KEY": "kakao-secret"]

    func testThatARecordedBoxOfficeIsReplayedWithoutKeyAndNetwork() async throws {
        // Given a recording of the box office with working services
        let (folder, picture) = (folder(), try Picture.jpeg())
        let origin = try await OriginServer.start { target, fields in
            let base = "http://\(fields["host"] ?? "")"
            if target.hasPrefix("/picture") { return .answer(type: "image/jpeg", body: picture) }
            return .answer(type: "application/json", body: ByteBuffer(string: Self.answer(target, base)))
        }
        let recording = try await server(
            sources: sources.replacing("BASE", with: origin.url), environment: secrets, recordReplay: .record(folder: folder))
        let recorded = try await recording.send("/sources/boxoffice/titles?date=2012-01-01")
        let poster = try await recording.send("/t/p/original/boxoffice/20112207")
        try await origin.stop()
        // When it is replayed with other keys and without services
        let replaying = try await server(
            sources: sources.replacing("BASE", with: origin.url), environment: ["KOBIS_KEY": "any", "KAKAO_KEY": "any"],
            recordReplay: .replay(folder: folder))
        let replayed = try await replaying.send("/sources/boxoffice/titles?date=2012-01-01")
        let again = try await replaying.send("/t/p/original/boxoffice/20112207")
        let missing = try await replaying.send("/sources/boxoffice/titles?date=2012-01-02")
        // Then the responses are equal, missing ones are reported, and the recording has no secrets
        XCTAssertEqual(recorded.status, 200, recorded.text)
        XCTAssertEqual(replayed.text, recorded.text)
        XCTAssertEqual(poster.body, picture)
        XCTAssertEqual(again.body, picture)
        assertProblem(missing, 502, "no response is recorded")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        XCTAssertEqual(files.count, 3)
        XCTAssertEqual(try permissions(folder), 0o700)
        for file in files {
            XCTAssertEqual(try permissions("\(folder)/\(file)"), 0o600, "others may not read what a service answered")
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            for secret in ["kobis/secret", "kobis%2Fsecret", "kobis\\/secret", "kakao-secret"] {
                XCTAssertFalse(text.contains(secret), "\(file) holds \(secret)")
            }
        }
    }

    func testPostsAreRecordedByTheirBodies() async throws {
        // Given a service that answers each body
        let (network, folder, redaction) = (FakeTransport(), folder(), Redaction(secrets: ["hush-hush"]))
        network.on("http://a.example/") { request in
            HTTPAnswer(status: 200, body: ByteBuffer(string: "answer to \(request.body.map { String(buffer: $0) } ?? "")"))
        }
        let policy = OriginPolicy()
        func request(_ body: String) -> HTTPRequest { HTTPRequest(url: "http://a.example/", body: ByteBuffer(string: body)) }
        let bodies = [#"{"page":1,"apikey":"hush-hush"}"#, #"{"page":2,"apikey":"hush-hush"}"#]
        // When two of them are recorded, and replayed with another key
        let recording = try RecordReplay.record(folder: folder).transport(network, redaction)
        for body in bodies { _ = try await recording.get(request(body), under: policy) }
        let replaying = try RecordReplay.replay(folder: folder).transport(network, redaction)
        var texts: [String] = []
        for body in bodies {
            let answer = try await replaying.get(request(body.replacing("hush-hush", with: "other")), under: policy)
            texts.append(String(buffer: answer.body))
        }
        // Then each has its answer, and no file has the key
        XCTAssertEqual(texts, bodies.map { "answer to " + $0.replacing("hush-hush", with: "REDACTED") })
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            XCTAssertFalse(try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8).contains("hush"), file)
        }
    }

    func testTokensAreNotRecorded() async throws {
        // Given a service that exchanges a key for a token
        let (network, folder, redaction) = (FakeTransport(), folder(), Redaction(secrets: []))
        network.on("http://a.example/login", #"{"data":{"token":"eyJ.hidden","life":3600},"more":["hidden"]}"#)
        let request = HTTPRequest(
            url: "http://a.example/login", body: ByteBuffer(string: #"{"user":"hidden","pin":"hidden"}"#), hasSecretAnswer: true)
        // When it is recorded and replayed
        _ = try await RecordReplay.record(folder: folder).transport(network, redaction).get(request, under: OriginPolicy())
        let answer = try await RecordReplay.replay(folder: folder).transport(network, redaction)
            .get(HTTPRequest(url: request.url, body: ByteBuffer(), hasSecretAnswer: true), under: OriginPolicy())
        // Then only the shape of the answer is kept
        XCTAssertEqual(
            try JSONValue(reading: answer.body),
            .object(["data": .object(["token": "REDACTED", "life": 3600]), "more": .array(["REDACTED"])]))
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
            XCTAssertFalse(try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8).contains("hidden"), file)
        }
    }

    func testARecordingHidesWhatIsNamedAsASecret() {
        let redaction = Redaction(secrets: [])
        for name in [
            "key", "api_key", "apikey", "api-key", "API%5FKEY", "token", "access_token", "refreshToken", "auth", "secret",
            "client_secret",
            "password", "pwd", "passwd", "signature", "X-Amz-Signature", "X-Amz-Credential", "AWSAccessKeyId", "sig", "hmac", "jwt",
            "session", "sessionid", "sid", "private_key", "bearer",
        ] {
            XCTAssertEqual(redaction.url("http://a.example/b?\(name)=hush&page=2"), "http://a.example/b?\(name)=REDACTED&page=2")
        }
        for name in ["keyword", "page", "query", "design", "passage", "authors", "sort"] {
            XCTAssertEqual(redaction.url("http://a.example/b?\(name)=film"), "http://a.example/b?\(name)=film")
        }
        let fields = redaction.fields(["set-cookie": "a=b", "x-auth-token": "c", "authentication-info": "d", "etag": "e"])
        XCTAssertEqual(fields, ["etag": "e", "authentication-info": "d"])
    }

    func testRecordedBodyHidesSecrets() async throws {
        // Given a service that makes up keys for its answers
        let (network, folder, redaction) = (FakeTransport(), folder(), Redaction(secrets: []))
        @Sendable func body(_ secret: String, slashed: String, number: String) -> String {
            #"{"session_id": "\#(secret)", "ratingKey": "7", "key": "/library/7", "is_private": true, "apiKey":"\#(secret)","#
                + #""pin": {"token" : \#(number)}, "credentials": {"user": "\#(secret)", "more": ["\#(secret)", 5]}, "name": "Film","#
                + #""links": ["http://b.example/1?size=2&api_key=\#(secret)#a","#
                + #""http:\/\/b.example\/1?token=\#(slashed)\u0026size=2", "//b.example/1?size=2\u0026X-Amz-Signature=\#(secret)"]}"#
        }
        network.on("http://a.example/") { _ in
            HTTPAnswer(
                status: 200, headers: ["link": "<http://a.example/?page=2&api_key=hush>; rel=\"next\""],
                body: ByteBuffer(string: body("hush", slashed: #"hush\/1"#, number: "123456")))
        }
        // When an answer is recorded and replayed
        let request = HTTPRequest(url: "http://a.example/")
        _ = try await RecordReplay.record(folder: folder).transport(network, redaction).get(request, under: OriginPolicy())
        let answer = try await RecordReplay.replay(folder: folder).transport(network, redaction).get(request, under: OriginPolicy())
        // Then the secrets are gone, and the rest keeps its bytes
        XCTAssertEqual(String(buffer: answer.body), body("REDACTED", slashed: "REDACTED", number: "0"))
        XCTAssertEqual(answer.headers["link"], "<http://a.example/?page=2&api_key=REDACTED>; rel=\"next\"")
        // And so of HTML and XML
        XCTAssertEqual(
            redaction.text(#"<a href="/x?a=1&amp;api_key=hush">key=1; token=2</a>"#),
            #"<a href="/x?a=1&amp;api_key=REDACTED">key=1; token=2</a>"#)
    }

    private func permissions(_ path: String) throws -> Int {
        try XCTUnwrap(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    func testThatAFolderThatIsNotThereIsTold() {
        XCTAssertThrowsError(
            try RecordReplay.replay(folder: "/nowhere/at all").transport(
                ReplayingTransport(folder: "", redaction: .init(secrets: [])), .init(secrets: []))
        ) {
            XCTAssertEqual("\($0)", "--replay: the folder /nowhere/at all does not exist; create it with --record /nowhere/at all")
        }
    }

    func testThatSecretsGoByValueAndByName() {
        let redaction = Redaction(secrets: ["s3cret+", "abc"])
        let table = [
            ("http://a.example/s3cret+/x?q=1", "http://a.example/REDACTED/x?q=1"),
            ("http://a.example/?q=s3cret%2B&Api_Key=zzz&key=", "http://a.example/?q=REDACTED&Api_Key=REDACTED&key=REDACTED"),
            ("http://a.example/abc?", "http://a.example/abc?"),
        ]
        for (url, expected) in table { XCTAssertEqual(redaction.url(url), expected) }
        XCTAssertEqual(redaction.fields(["set-cookie": "a=b", "x": "s3cret+"]), ["x": "REDACTED"])
        // And however a service writes it
        let slashed = Redaction(secrets: ["S3cr/et+K y"])
        for text in [
            "S3cr/et+K y", "S3cr\\/et+K y", "S3cr\\u002fet+K y", "S3cr%2Fet%2BK%20y", "s=S3cr%2fet%2bK%20y", "S3cr%2Fet%2BK+y",
        ] {
            XCTAssertFalse(slashed.text(text).contains("S3cr"), text)
        }
    }

    private static func answer(_ target: String, _ base: String) -> String {
        if target.contains("searchDailyBoxOfficeList") {
            return """
                {"boxOfficeResult":{"boxofficeType":"일별 박스오피스","showRange":"20120101~20120101","dailyBoxOfficeList":[\
                {"rnum":"1","rank":"1","rankInten":"0","rankOldAndNew":"OLD","movieCd":"20112207","movieNm":"영화","openDt":"2011-12-15",\
                "salesAmt":"1","salesShare":"1","salesInten":"1","salesChange":"1","salesAcc":"1","audiCnt":"1","audiInten":"1",\
                "audiChange":"1","audiAcc":"1","scrnCnt":"1","showCnt":"1"}]}}
                """
        }
        return """
            {"meta":{"total_count":1,"pageable_count":1,"is_end":true},"documents":[{"collection":"blog","thumbnail_url":"\(base)/picture",\
            "image_url":"\(base)/picture","width":300,"height":450,"display_sitename":"blog","doc_url":"http://127.0.0.1/kakao-secret",\
            "datetime":"2012-01-01T12:00:00.000+09:00"}]}
            """
    }
}
