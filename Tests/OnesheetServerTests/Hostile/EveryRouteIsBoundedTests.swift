import Foundation
import NIOCore
import OnesheetAddress
import OnesheetCache
import OnesheetConsole
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// Each route of the router, with more large originals than there is memory for. A route without an example in `Tests/Stress/routes.json`
/// fails. The stress test's `every-route` has originals of 30 MB, and holds what the processes take against `limits.memory`.
final class EveryRouteIsBoundedTests: ServerTestCase {
    private static let titles = 16
    private let limit = 24 << 20
    /// Without it, an address of this machine is a proxy, which has no share.
    private let oneMiss = "clients: { trustedProxies: [], perAddress: { misses: 0.001, burst: 1 } }"
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testEveryRegisteredDialectHasItsRoutes() async throws {
        // Given a server with all dialects
        let server = try await server(try await pictures(), folder())
        let table = server.server.responder.router.table
        // Then each plugin has its routes, imgproxy's grammar is at the root too, and each route has a name of its own
        let grammars = Set(table.routes.compactMap { ($0 as? any ImageRoute)?.grammar })
        XCTAssertEqual(PluginList.standard.dialects.map { $0.name }.filter { !grammars.contains($0) }, [])
        XCTAssertEqual(table.routes.count { ($0 as? FreeImageRoute)?.prefix == "/" }, 1)
        // Files of TMDB are under the path of titles
        let names = table.names.filter { $0 != "/t/p/" }
        XCTAssertEqual(Set(names).count, names.count, "\(names)")
        // And no example is of a route that there is not
        XCTAssertEqual(try RouteExamples.paths("1", number: 1).keys.filter { !table.names.contains($0) }, [])
    }

    func testNoRouteReadsMoreThanThereIsRoomFor() async throws {
        // Given more originals on a disk than there is memory for
        let (origin, cache) = (try await pictures(), folder())
        try await fill(cache, from: origin)
        for route in try await routes(origin, cache) {
            let server = try await server(origin, cache)
            let context = server.server.responder.context
            let (memory, disk) = (context.pipeline.pool.memory, context.resources.disk)
            let paths = try (0..<Self.titles).map { try examples(of: route, origin, $0) }
            // When each example is requested by many at once, who begin with different originals
            let answers = try await withThrowingTaskGroup(of: (example: Int, status: Int).self) { group in
                for client in 0..<256 {
                    let fields = administrator + (client.isMultiple(of: 3) ? [("Range", "bytes=0-0")] : [])
                    for (example, path) in paths[client % Self.titles].enumerated() {
                        group.addTask { (example, try await server.send(path, fields: fields).status) }
                    }
                }
                return try await group.reduce(into: [[Int: Int]](repeating: [:], count: paths[0].count)) {
                    $0[$1.example][$1.status, default: 0] += 1
                }
            }
            for (path, statuses) in zip(paths[0], answers) {
                // Then some get what they asked for, and the others are told that there is no room
                XCTAssertTrue(statuses.contains { [200, 206, 302, 303].contains($0.key) }, "\(path): \(statuses)")
                let other = statuses.filter { ![200, 206, 302, 303, 416, 503].contains($0.key) }
                XCTAssertEqual(other, [:], "\(path): \(statuses)")
            }
            // And memory has never held more than it may, and has counted what was read, but for what is small
            XCTAssertLessThanOrEqual(memory.peak, limit, route)
            XCTAssertLessThanOrEqual(disk.bytesRead, memory.granted + 256 * answers.count * ReadingMemory.small, route)
            // And all of it comes back
            await waitWhile(memory.reserved > 0)
            XCTAssertEqual(memory.reserved, 0, route)
            await server.stop()
        }
    }

    func testNoRouteWorksForAClientWithoutAShare() async throws {
        // Given originals on a disk, and a server that knows nothing of them
        let (origin, cache) = (try await pictures(), folder())
        try await fill(cache, from: origin)
        for (number, route) in try await routes(origin, cache).enumerated() {
            let server = try await server(origin, cache, keys: oneMiss)
            let context = server.server.responder.context
            let (metrics, disk) = (context.pipeline.metrics, context.resources.disk)
            let paths = try examples(of: route, origin, 0)
            // When a client asks that has spent its only miss on an image that no server before this one has made
            let spent = try await server.send("/i/unsafe/w:\(100 + number)/plain/web://\(Self.escaped(origin.url, 99))@jpg")
            XCTAssertEqual(spent.status, 200, spent.text)
            await server.finishStoring()
            let (fetched, made, read) = (origin.requests(), metrics.counts.renders, disk.bytesRead)
            var answers: [ServerAnswer] = []
            for path in paths { answers.append(try await server.send(path)) }
            // Then nothing is fetched or rendered, nothing is read that it does not get, and it is told so
            XCTAssertEqual(origin.requests(), fetched, route)
            XCTAssertEqual(metrics.counts.renders, made, route)
            let sent = answers.reduce(0) { $0 + $1.body.readableBytes + ReadingMemory.small }
            XCTAssertLessThanOrEqual(disk.bytesRead - read, sent, route)
            if Self.computes(route) {
                XCTAssertTrue(answers.contains { $0.status == 429 }, "\(route): \(answers.map(\.status))")
            } else {
                XCTAssertFalse(answers.contains { $0.status == 429 }, "\(route) computes: \(answers.map(\.status))")
            }
            await server.stop()
        }
    }

    /// Whether a new answer of the route is a miss of its client.
    private static func computes(_ route: String) -> Bool {
        ![
            "/addresses", "/sources", "/cache/", "/blocked/", "/prefetch", "/prefetch/", "/figures", "/errors", "/health", "/ready",
            "/metrics", "/3/configuration", "/console/", "/favicon.ico",
        ].contains(route)
    }

    func testAHashIsComputedOnceAndForAClientWithAShare() async throws {
        // Given originals on a disk, and a client with two misses: a request for candidates that nothing keeps is one
        let (origin, cache) = (try await pictures(), folder())
        try await fill(cache, from: origin)
        let twoMisses = oneMiss.replacing("burst: 1", with: "burst: 2")
        let server = try await server(origin, cache, keys: twoMisses)
        let disk = server.server.responder.context.resources.disk
        let size = try Self.picture(0).readableBytes
        func describe(_ number: Int) async throws -> ServerAnswer {
            try await server.send("/sources/web/titles/\(Self.escaped(origin.url, number))/posters")
        }
        // When the poster is described again and again, then it is read the first time only
        let first = try await describe(0)
        XCTAssertEqual(first.status, 200, first.text)
        XCTAssertTrue((size..<2 * size).contains(disk.bytesRead), "\(disk.bytesRead)")
        let read = disk.bytesRead
        let second = try await describe(0)
        XCTAssertEqual(second.text, first.text)
        XCTAssertLessThan(disk.bytesRead - read, ReadingMemory.small)
        // And that of another title is not
        let other = try await describe(1)
        XCTAssertEqual(other.status, 429, other.text)
        XCTAssertLessThan(disk.bytesRead - read, ReadingMemory.small)
    }

    private func routes(_ origin: OriginServer, _ cache: String) async throws -> [String] {
        let server = try await server(origin, cache)
        let routes = server.server.responder.router.table.names
        await server.stop()
        return routes
    }

    /// What to request of a route, for the title with this number.
    private func examples(of route: String, _ origin: OriginServer, _ number: Int) throws -> [String] {
        try XCTUnwrap(
            try RouteExamples.paths("\(origin.url)/\(number)", number: 40 + number)[route],
            "a new route \(route) needs an example in Tests/Stress/routes.json")
    }

    private static func escaped(_ url: String, _ number: Int) -> String {
        PercentEncoding.encode("\(url)/\(number)")
    }

    private func pictures() async throws -> OriginServer {
        try await origin { target, _ in
            let image = #"{"file_path":"/0.jpg","iso_639_1":null,"width":90,"height":135,"vote_average":8,"vote_count":40}"#
            let documents = [
                "/tmdb/": #"{"id":40,"title":"Film","results":[],"posters":[\#(image)],"backdrops":[],"logos":[],"stills":[]}"#,
                "/api/list": #"{"items":[{"id":"1","name":"Film"}],"pages":1}"#,
                "/api/search": #"{"items":[{"id":"1","name":"Film"}]}"#, "/api/title": #"{"id":"1","name":"Film"}"#,
                "/api/pictures": #"{"items":[]}"#,
            ]
            if let document = documents.first(where: { target.hasPrefix($0.key) })?.value {
                return .answer(type: "application/json", body: ByteBuffer(string: document))
            }
            do { return .answer(type: "image/jpeg", body: try Self.picture(Int(target.dropFirst()) ?? 0)) } catch {
                return .answer(status: 500)
            }
        }
    }

    /// A picture of three megabytes that is decoded quickly: most of it are comments. Each number has its own bytes.
    private static func picture(_ number: Int) throws -> ByteBuffer {
        let small = try Picture.jpeg(width: 90, height: 135)
        var picture = small.slice(0..<2)
        for _ in 0..<48 {
            picture.writeBytes([0xFF, 0xFE, 0xFF, 0xFF])
            picture.writeRepeatingByte(UInt8(number), count: 65_533)
        }
        picture.writeImmutableBuffer(small.slice(2..<small.readableBytes))
        return picture
    }

    /// Stores the originals, and the images that are the same.
    private func fill(_ cache: String, from origin: OriginServer) async throws {
        let server = try await RunningServer.start(
            sources: web(origin), keys: "limits: { memory: 256MiB }\nclients: { perAddress: { misses: 0 } }", memory: "1MiB",
            cache: cache)
        for number in 0..<Self.titles {
            let answer = try await server.send("/i/unsafe/plain/web://\(Self.escaped(origin.url, number))")
            XCTAssertEqual(answer.status, 200, answer.text)
        }
        await server.finishStoring()
        await server.stop()
    }

    private func server(
        _ origin: OriginServer, _ cache: String, keys: String = "clients: { perAddress: { misses: 0 } }"
    ) async throws -> RunningServer {
        try await server(
            sources: web(origin) + """

                tmdb:
                  type: rest
                  manifest: tmdb
                  variables: { token: t, pictures: "\(origin.url)" }
                  baseURL: "\(origin.url)/tmdb"
                  networks: [loopback]
                jellyfin: { type: rest, manifest: jellyfin, variables: { token: t }, baseURL: "\(origin.url)", networks: [loopback] }
                plex: { type: rest, manifest: plex, baseURL: "\(origin.url)", networks: [loopback] }
                films:
                  type: rest
                  networks: [loopback]
                  api:
                    baseURL: "\(origin.url)/api"
                    list: { get: "/list{?page}", items: /items, pages: /pages, fields: { id: /id, name: /name } }
                    search: { get: "/search{?query,page}", items: /items, fields: { id: /id, name: /name } }
                    title: { get: "/title{?id}", fields: { id: /id, name: /name } }
                    candidates: { get: "/pictures{?id}", items: /items, fields: { url: /url } }
                """,
            keys: """
                limits: { memory: \(limit), originBytes: 4MiB }
                admin: { token: secret-for-tests }
                dialects: [cloudflare, next, thumbor, iiif, tmdb, jellyfin, plex, { imgproxy: / }, { rpdb: { keys: [{ key: stress-key-of-all }] } }]
                \(keys)
                """, memory: "1MiB", cache: cache)
    }
}
