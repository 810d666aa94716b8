import Foundation
import NIOCore
import OnesheetAddress
import OnesheetCache
import OnesheetCore
import OnesheetHTTP
import OnesheetPipeline
import OnesheetTesting
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

    func testNoRouteReadsMoreThanThereIsRoomFor() async throws {
        // Given more originals on a disk than there is memory for
        let (origin, cache) = (try await pictures(), folder())
        try await fill(cache, from: origin)
        for route in try await routes(origin, cache) {
            let server = try await server(origin, cache)
            let memory = server.server.responder.context.pipeline.pool.memory
            let paths = try (0..<Self.titles).map { try examples(of: route, origin, $0) }
            // When each example is requested by many at once, who begin with different originals
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for client in 0..<256 {
                    let fields = administrator + (client.isMultiple(of: 3) ? [("Range", "bytes=0-0")] : [])
                    for path in paths[client % Self.titles] {
                        group.addTask { try await server.send(path, fields: fields).status }
                    }
                }
                return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
            }
            // Then each is answered, and memory has never held more than it may
            let other = statuses.filter { ![200, 206, 303, 404, 405, 422, 503].contains($0.key) }
            XCTAssertEqual(other, [:], "\(route): \(statuses)")
            XCTAssertLessThanOrEqual(memory.peak, limit, route)
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
            let metrics = server.server.responder.context.pipeline.metrics
            let paths = try examples(of: route, origin, 0)
            // When a client asks that has spent its only miss on an image that no server before this one has made
            let spent = try await server.send("/i/unsafe/w:\(100 + number)/plain/web://\(Self.escaped(origin, 99))@jpg")
            XCTAssertEqual(spent.status, 200, spent.text)
            let (fetched, made) = (origin.requests(), metrics.counts.renders)
            for path in paths { _ = try await server.send(path) }
            // Then nothing is fetched or rendered
            XCTAssertEqual(origin.requests(), fetched, route)
            XCTAssertEqual(metrics.counts.renders, made, route)
            await server.stop()
        }
    }

    func testAHashIsComputedOnce() async throws {
        // Given an original on a disk, and a client with one miss
        let (origin, cache) = (try await pictures(), folder())
        try await fill(cache, from: origin)
        let server = try await server(origin, cache, keys: oneMiss)
        let posters = server.server.responder.context.posters
        let title = TitleReference(source: "web", id: "\(origin.url)/0")
        // When the poster is described again and again, then it is read the first time only
        let first = try await posters.current(ImageReference(title))
        let reads = try await server.server.responder.context.resources.disk.statistics().total.hits
        let second = try await posters.current(ImageReference(title))
        let again = try await server.server.responder.context.resources.disk.statistics().total.hits
        XCTAssertEqual(first?.bytes, try Self.picture(0).readableBytes)
        XCTAssertEqual(second?.hash, first?.hash)
        XCTAssertEqual(again, reads)
    }

    private func routes(_ origin: OriginServer, _ cache: String) async throws -> [String] {
        let server = try await server(origin, cache)
        let routes = server.server.responder.router.table.routes.map(\.prefix)
        await server.stop()
        return routes
    }

    /// What to request of a route, for the title with this number.
    private func examples(of route: String, _ origin: OriginServer, _ number: Int) throws -> [String] {
        try XCTUnwrap(
            try RouteExamples.paths("\(origin.url)/\(number)", number: 40 + number)[route],
            "a new route \(route) needs an example in Tests/Stress/routes.json")
    }

    private static func escaped(_ origin: OriginServer, _ number: Int) -> String {
        PercentEncoding.encode("\(origin.url)/\(number)")
    }

    private func pictures() async throws -> OriginServer {
        try await origin { target, _ in
            if target.hasPrefix("/tmdb/") { return .answer(type: "application/json", body: ByteBuffer(string: "{}")) }
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
            let answer = try await server.send("/i/unsafe/plain/web://\(Self.escaped(origin, number))")
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
                """,
            keys: """
                limits: { memory: \(limit), originBytes: 4MiB }
                admin: { token: secret-for-tests }
                dialects: [cloudflare, next, thumbor, iiif, tmdb, jellyfin, plex]
                \(keys)
                """, memory: "1MiB", cache: cache)
    }
}
