import Foundation
import HTTPTypes
import Logging
import NIOCore
import OnesheetAddress
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetCommands
@testable import OnesheetServer

/// Services and programs with numbers out of range and endless lists, seen by clients of the server.
final class ExtremeValuesTests: ServerTestCase {
    private static let list =
        #"{"items":[{"id":"1","name":"One","rank":1,"day":"2026-01-01","n":1.5,"any":{"x":[1]}}],"total":100}"#
    private static let title = #"{"id":"ID","name":"One","n":2}"#
    private static let places = #"{"items":[{"url":"http://127.0.0.1:9/1","width":600,"height":900,"day":"2026-01-01T00:00:00Z"}]}"#

    func testThatWhateverAServiceSaysTheAnswerIsADocument() async throws {
        // Given a service with another extreme value for each search and each title
        let (lists, titles) = (ExtremeJSON.variants(of: Self.list), ExtremeJSON.variants(of: Self.title))
        let places = ExtremeJSON.variants(of: Self.places)
        let origin = try await origin { target, _ in
            let number = Int(target.split { $0 == "=" || $0 == "&" || $0 == "/" }.last ?? "") ?? 0
            let text =
                target.hasPrefix("/list")
                ? lists[number % lists.count]
                : target.hasPrefix("/title")
                    ? titles[number % titles.count].split(separator: "ID").joined(separator: "\(number)")
                    : places[number % places.count]
            return .answer(type: "application/json", body: ByteBuffer(string: text))
        }
        let server = try await server(
            sources: """
                api: { type: rest, baseURL: "\(origin.url)", networks: [loopback], api: { baseURL: "http://api.example", \
                search: { get: "/list{?page,query}", items: /items, total: /total, perPage: 20, fields: { id: /id, name: /name, \
                rank: /rank, releaseDate: /day, metadata: { n: { at: /n, as: number }, any: /any } } }, \
                title: { get: "/title/{id}", fields: { id: /id, name: /name, metadata: { n: { at: /n, as: number } } } }, \
                candidates: { get: "/places/{id}", items: /items, order: likeness, \
                fields: { url: /url, width: /width, height: /height, published: /day } } } }
                """)
        let paths =
            lists.indices.map { "/sources/api/titles?query=\($0)" } + titles.indices.map { "/sources/api/titles/\($0)" }
            + places.indices.map { "/sources/api/titles/\($0)/posters" }
        for path in paths {
            // When it is requested
            let answer = try await server.send(path)
            // Then the response is a document or a problem, and never an internal error
            XCTAssertTrue([200, 404, 502, 503].contains(answer.status), "\(path) \(answer.status) \(answer.text)")
            XCTAssertNoThrow(try answer.json(), path)
        }
        let health = try await server.send("/health")
        XCTAssertEqual(health.status, 200)
    }

    func testThatAListWhoseDocumentNeedsMoreMemoryThanThereIsIsRefused() async throws {
        // Given a service whose titles have ids of 8,000 bytes, 500 of them or one
        let origin = try await origin { target, _ in
            let ids = (0..<(target.hasSuffix("many") ? 500 : 1)).map { "\(1000 + $0)" + String(repeating: "/", count: 7996) }
            let items = ids.map { "{\"id\":\"\($0)\",\"name\":\"x\"}" }.joined(separator: ",")
            return .answer(type: "application/json", body: ByteBuffer(string: "{\"items\":[\(items)]}"))
        }
        let server = try await server(
            sources: """
                api: { type: rest, baseURL: "\(origin.url)", networks: [loopback], api: { baseURL: "http://api.example", \
                search: { get: "/list{?query}", items: /items, fields: { id: /id, name: /name } }, \
                title: { get: "/title/{id}", fields: { id: /id, name: /name } }, \
                candidates: { get: "/places/{id}", items: /items, fields: { url: /url } } } }
                """, keys: "limits: { memory: 128MiB }")
        // When they are listed, then the many are refused, for the time being
        let one = try await server.send("/sources/api/titles?query=one")
        XCTAssertEqual(one.status, 200, one.text)
        let many = try await server.send("/sources/api/titles?query=many")
        XCTAssertEqual(many.status, 503, String(many.text.prefix(300)))
        XCTAssertEqual(many.field("Retry-After"), "1")
    }

    func testThatAListWithoutAnEndAndATimeWithoutACalendarAreTold() async throws {
        // Given a program with an endless list, and a quota that resets after the end of the universe
        let program = folder() + ".sh"
        addTeardownBlock { try FileManager.default.removeItem(atPath: program) }
        let script = #"""
            read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocol":1}}'; n=1
            while read line; do
              n=$((n + 1))
              case "$line" in
                *'"method":"titles"'*) echo '{"jsonrpc":"2.0","id":'$n',"result":{"titles":[{"id":"1","name":"One"}],"total":9223372036854775807,"next":1}}';;
                *) echo '{"jsonrpc":"2.0","id":'$n',"error":{"code":-32003,"message":"m","data":{"until":1e300}}}';;
              esac
            done
            """#
        try Data(script.utf8).write(to: URL(filePath: program))
        let server = try await server(
            sources: "prog: { type: exec, command: [/bin/sh, \"\(program)\"] }", keys: "admin: { token: secret-for-tests }")
        // When the whole list is requested, and a title
        for more in ["", ", \"dryRun\": true"] {
            let answer = try await server.send(
                "/prefetch", method: "POST", fields: [("Authorization", "Bearer secret-for-tests")],
                body: "{\"source\": \"prog\"\(more)}")
            // Then the list is malformed, and the reset of the quota is within the calendar
            assertProblem(answer, 502, "the page after 1 is 1")
        }
        let page = try await server.send("/sources/prog/titles")
        XCTAssertEqual(page.status, 200, page.text)
        let title = try await server.send("/sources/prog/titles/1")
        assertProblem(title, 503, "quota")
        XCTAssertEqual(title.field("Retry-After"), "3600")
        for path in ["/sources", "/", "/metrics", "/health"] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, 200, path)
        }
        // And a bundle of it ends too
        let order = PrefetchOrder(source: "prog")
        let context = try ServerContext(
            try ConfigurationFile(environment: [:]).parse(
                """
                cache: { disk: { path: "\(folder())" } }
                sources: { prog: { type: exec, command: [/bin/sh, "\(program)"] } }
                """), .standard, logger: RunningServer.silent)
        do {
            let bundle = try PosterBundle(
                order: order, options: context.options, prefetcher: context.prefetcher, pipeline: context.pipeline)
            _ = try await bundle.write { _ in }
            XCTFail("a list without an end was written")
        } catch {
            XCTAssertTrue("\(error)".contains("the page after 1 is 1"), "\(error)")
        }
        try await context.shutdown()
    }

    func testThatEveryTimeOfAQuotaIsSaid() {
        let table: [(Double?, Int)] = [
            (nil, 3600), (1e300, 31_622_400), (-1e300, 1), (.infinity, 31_622_400), (-.infinity, 1), (.nan, 1), (1000, 1),
            (1060, 60),
        ]
        for (until, seconds) in table {
            let problem = Problem(Failure.source("x", .quotaExhausted(until: until)), at: 1000)
            XCTAssertEqual(problem.retryAfter, seconds, "\(String(describing: until))")
        }
    }

    func testThatADocumentThatCannotBeWrittenIsAnError() {
        var response = Problem.changed.response()
        do {
            response = try .json(["x": Double.nan])
            XCTFail("\(response) says that nan is a number")
        } catch {
            XCTAssertEqual(Problem(error, at: 0).status, .internalServerError)
        }
    }

    func testThatAnOrderNamesEachSizeOnce() throws {
        // Given a prefetch request with a megabyte of sizes
        var order = PrefetchOrder(source: "sample")
        order.sizes = Array(repeating: "w92", count: 100_000)
        order.formats = Array(repeating: "jpg", count: 100_000)
        let variants = try order.variants(try ImageOptions(formats: [.jpeg]))
        XCTAssertEqual(variants.count, 1)
    }
}
