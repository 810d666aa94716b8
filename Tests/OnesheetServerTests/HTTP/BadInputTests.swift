import Logging
import NIOCore
import OnesheetAddress
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// Invalid requests and faulty origins: each gets a clear problem document, and the next request succeeds.
final class BadInputTests: ServerTestCase {
    func testThatRequestsThatMakeNoSenseAreRefusedByName() async throws {
        // Given a server
        let server = try await server()
        let table: [(String, Int, String)] = [
            ("/t/p/w343/sample/1.jpg", 400, "unknown size “w343”; did you mean “w342”?"),
            ("/t/p/w400/sample/1.jpg", 400, "unknown size “w400”; did you mean “w342”?"),
            ("/t/p/w-9223372036854775808/sample/1.jpg", 400, "unknown size"),
            ("/t/p/w342/sample/1.bmp", 400, "bmp"),
            ("/i/unsafe/w:100/plain/https://example.com/a?b=1", 400, "“?” cannot be in the path of a URL; write %3F"),
            ("/i/unsafe/w:100/plain/https://example.com/a?b=1@jpg", 400, "write %3F"),
            ("/i/unsafe/w:100/plain/sample://1?v=1", 400, "write %3F"),
            ("/t/p/w92/web/http:%2F%2Fexample.com%2Fa.jpg?x=1", 400, "“?” cannot be in the path of a URL; write %3F"),
            ("/t/p/w92/web/https://example.com/a.jpg?language=en", 400, "write %3F"),
            ("/t/p/w92/web/https%3A%2F%2Flocalhost%2Fa.jpg?x=1", 400, "write %3F"),
            ("/explain?url=%2Ft%2Fp%2Fw92%2Fweb%2Fhttps%253A%252F%252Fexample.com%252Fa.jpg%3Fx=1", 400, "write %3F"),
            ("/sources/web/titles/https:%2F%2Fexample.com%2Fa.jpg?x=1", 400, "write %3F"),
            ("/t/p/w92/web/https:/example.com/a.jpg?x=1", 400, "write %3F"),
            ("/explain?url=/i/unsafe/plain/sample://1?v=1", 400, "write %3F"),
            ("/t/p/w342/sampel/1.jpg", 404, "unknown source “sampel”; did you mean “sample”?"),
            ("/t/p/w342/sample/nobody.jpg", 404, "nobody"),
            ("/t/p/w342/sample", 400, "/t/p/{size}/{source}/{id}"),
            ("/i/unsafe/rz:1/plain/sample://1", 400, "unknown option “rz”"),
            ("/i/unsafe/w:x/plain/sample://1", 400, "x"),
            ("/i/unsafe/w:100/plain/sample://1@tiff", 400, "tiff"),
            ("/i/unsafe/w:30000/h:30000/rt:force/el:1/plain/sample://1@jpg", 400, "at most"),
            ("/i/unsafe/w:100/plain/https%3A%2F%2Fexample.com%2Fa.jpg", 403, "no remote source allows"),
            ("/i/wrong/w:100/plain/sample://1", 403, "signature"), ("/i/wrong/rz:1/plain/sample://1", 403, "signature"),
            ("/i/unsafe/exp:1/plain/sample://1@jpg", 404, "expired"),
            ("/sources/nobody/titles", 404, "nobody"),
            ("/sources/sample/titles/nobody", 404, "nobody"),
            ("/sources/sample/titles?date=tomorrow", 400, "tomorrow"),
            ("/sources/sample/titles?page=0", 400, "page"),
            ("/sources/sample/titles?page=%2B1", 400, "option “page”: “+1” needs a number from 1"),
            ("/sources/sample/titles?page=+1", 400, "page"), ("/sources/sample/titles?page=01", 400, "page"),
            ("/sources/sample/titles?page=1_0", 400, "page"), ("/sources/sample/titles?page=100001", 400, "page"),
            ("/nowhere", 404, "/nowhere"),
            ("/cache/stats", 401, "bearer token"),
        ]
        for (path, status, words) in table {
            // When something invalid is requested
            let answer = try await server.send(path)
            // Then the problem document explains it
            assertProblem(answer, status, words, context: path)
        }
    }

    func testQueryBehindAnExtensionIsIgnored() async throws {
        let picture = try Picture.jpeg()
        let origin = try await origin { _, _ in .answer(type: "image/jpeg", body: picture) }
        let server = try await server(sources: "sample: { type: sample }\n\(web(origin))")
        for path in [
            "/i/unsafe/w:60/plain/sample://1@jpg?v=1", "/t/p/w92/sample/1.jpg?v=1", "/i/unsafe/w:60/c2FtcGxlOi8vMQ.jpg?v=1",
            "/t/p/w92/web/\(PercentEncoding.encode(id: "\(origin.url)/a.jpg")).png?v=1",
        ] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, path)
        }
    }

    func testThatOriginsThatMisbehaveAreToldApart() async throws {
        // Given an origin with one fault per path
        let good = try Picture.jpeg()
        let half = good.getSlice(at: 0, length: good.readableBytes / 2) ?? ByteBuffer()
        let origin = try await origin { target, _ in
            switch target {
            case "/html": .answer(type: "image/jpeg", body: ByteBuffer(string: "<html>not a picture</html>"))
            case "/truncated": .answer(type: "image/jpeg", body: half)
            case "/empty": .answer(type: "image/jpeg")
            case "/endless": .endless(type: "image/jpeg", bytes: 65_536)
            case "/silent": .silence
            case "/loop": .redirect(to: "/loop")
            case "/away": .redirect(to: "http://169.254.169.254/latest/meta-data/")
            case "/missing": .answer(status: 404)
            case "/broken": .answer(status: 500)
            case "/cut": .brokenOff(type: "image/jpeg", body: good, missing: 1)
            case "/hang-up": .hangUp
            default: .answer(type: "image/jpeg", body: good)
            }
        }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback], timeout: 500ms }",
            keys: "limits: { originBytes: 1MiB }")
        let table: [(String, Int, String)] = [
            ("/html", 422, "not an image"), ("/truncated", 422, "truncated"), ("/empty", 502, "empty"),
            ("/endless", 413, "1048576"),
            ("/silent", 504, "in time"), ("/loop", 502, "redirects"), ("/away", 403, "allow-list"), ("/missing", 404, "404"),
            ("/broken", 502, "500"), ("/cut", 502, "cannot be fetched"), ("/hang-up", 502, "cannot be fetched"),
        ]
        for (target, status, words) in table {
            // When a picture is requested there
            let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)\(target)@jpg")
            // Then each fault has its own problem
            assertProblem(answer, status, words, context: target)
        }
        // And the server continues
        let answer = try await server.send("/i/unsafe/w:60/plain/\(origin.url)/good@jpg")
        XCTAssertEqual(answer.status, 200)
    }

    func testThatAFailureIsRememberedForSecondsOnly() async throws {
        // Given an origin that fails once
        let clock = ManualClock()
        let good = try Picture.jpeg()
        let calls = CallCount()
        let origin = try await origin { _, _ in calls.next() == 1 ? .answer(status: 500) : .answer(type: "image/jpeg", body: good) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }", clock: clock.wallClock)
        let path = "/i/unsafe/w:60/plain/\(origin.url)/a@jpg"
        // When it is requested immediately, and after half a minute
        let first = try await server.send(path)
        let second = try await server.send(path)
        clock.advance(by: .seconds(31))
        let third = try await server.send(path)
        // Then the origin is not asked first, and succeeds later
        XCTAssertEqual([first.status, second.status, third.status], [502, 502, 200])
        XCTAssertEqual(origin.requests(), 2)
    }

    func testThatUnknownMethodsAreToldWhichThereAre() async throws {
        // Given a server
        let server = try await server()
        // When it gets another method
        let answer = try await server.send("/t/p/w92/sample/1.jpg", method: "PATCH")
        let options = try await server.send("/t/p/w92/sample/1.jpg", method: "OPTIONS")
        // Then it names the supported methods
        assertProblem(answer, 405, "GET, HEAD, OPTIONS")
        XCTAssertEqual(answer.field("Allow"), "GET, HEAD, OPTIONS")
        XCTAssertEqual(options.status, 204)
    }

    func testThatAPortInUseIsSaidInOneLine() async throws {
        // Given a port in use
        let origin = try await origin { _, _ in .answer() }
        var configuration = ServerConfiguration()
        configuration.listen = .host("127.0.0.1", port: origin.port)
        configuration.cache.disk.path = folder()
        let server = try Server(configuration, .standard, logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })
        do {
            // When a server starts on it
            try await server.run { _ in XCTFail("it listens") }
            XCTFail("nothing was thrown")
        } catch {
            // Then the error explains that, with a solution
            XCTAssertEqual("\(error)", "port \(origin.port) on 127.0.0.1 is in use; choose another with --listen 127.0.0.1:PORT")
        }
    }

    func testThatACacheFolderThatCannotBeMadeIsSaidInOneLine() {
        // Given a folder path below a file
        var configuration = ServerConfiguration()
        configuration.cache.disk.path = "/dev/null/cache"
        // When a server starts with it
        XCTAssertThrowsError(try Server(configuration, .standard, logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })) {
            // Then the error names the folder
            XCTAssertTrue("\($0)".contains("/dev/null/cache"), "\($0)")
        }
    }

    func testThatATypoInASourcesConfigurationIsNamed() {
        XCTAssertThrowsError(
            try Server(
                try ConfigurationFile(environment: [:]).parse(
                    "cache: { disk: { path: \"\(folder())\" } }\nsources: { web: { type: remote, alow: [] } }"),
                .standard, logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })
        ) {
            XCTAssertTrue("\($0)".contains("sources.web: unknown key “alow”; did you mean “allow”?"), "\($0)")
        }
    }

    func testThatMistakesInACodecsConfigurationAreNamed() {
        for (codecs, message) in [
            ("{ pgn: {} }", "rendering.codecs: unknown codec “pgn”; did you mean “png”?"),
            ("{ png: { effort: 12 } }", "rendering.codecs.png.effort: “12” is not 0 to 9"),
            ("{ png: { efort: 1 } }", "rendering.codecs.png: unknown key “efort”; did you mean “effort”?"),
        ] {
            XCTAssertThrowsError(
                try Server(
                    try ConfigurationFile(environment: [:]).parse(
                        "cache: { disk: { path: \"\(folder())\" } }\nrendering: { codecs: \(codecs) }\nsources: { a: { type: sample } }"
                    ),
                    .standard, logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })
            ) {
                XCTAssertEqual("\($0)", message)
            }
        }
    }

    func testThatAnUnknownSourceTypeIsNamed() {
        XCTAssertThrowsError(
            try Server(
                try ConfigurationFile(environment: [:]).parse(
                    "cache: { disk: { path: \"\(folder())\" } }\nsources: { web: { type: remot } }"), .standard,
                logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() })
        ) {
            XCTAssertTrue("\($0)".contains("sources.web.type: unknown source type “remot”; did you mean “remote”?"), "\($0)")
        }
    }

    func testThatNothingThatAClientSendsBreaksALogLine() async throws {
        for format in LogConfiguration.Format.allCases {
            // Given a server with a debug log
            let lines = LogLines()
            let server = try await server(logger: lines.logger(format))
            for (text, status) in [
                ("%0A", 400), ("%0D", 400), ("%1B%5B31m", 400), ("%7F", 400), ("%C2%85", 400), ("%C2%9B31m", 400),
                ("%E2%80%A8", 404), ("%E2%80%A9", 404), ("%E2%80%AE", 404), ("%EF%BB%BF", 404),
            ] {
                // When names have line ends, terminal controls or direction marks
                let name = "x\(text)y"
                for path in ["/t/p/w92/sample/\(name).jpg", "/t/p/w92/\(name)/1.jpg", "/i/unsafe/w:60/plain/sample://\(name)@jpg"] {
                    let answer = try await server.send(path)
                    XCTAssertEqual(answer.status, status, path)
                }
            }
            // Then the log has only visible characters
            XCTAssertGreaterThanOrEqual(lines.all.count, 30)
            for line in lines.all {
                let unseen = line.unicodeScalars.filter {
                    [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
                }
                XCTAssertTrue(unseen.isEmpty, line)
            }
        }
    }
}
