import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// Lists of titles as clients ask for them.
final class ListRouteTests: ServerTestCase {
    private let clock = ManualClock()

    func testListLooksUpPostersOnce() async throws {
        // Given a list of titles without known posters
        let server = try await server(titles: 40)
        let first = try await server.send("/sources/films/titles")
        XCTAssertEqual(first.status, 200, first.text)
        try await untilKept(server)
        let lookUps = try await lookUps(server)
        // When it is asked for again, then no tier is
        let second = try await server.send("/sources/films/titles")
        let known = try await server.send("/sources/films/titles", fields: [("If-None-Match", first.field("ETag") ?? "")])
        XCTAssertEqual([second.status, known.status], [200, 304])
        XCTAssertEqual(second.text, first.text)
        let again = try await self.lookUps(server)
        XCTAssertEqual(again, lookUps)
        // And after some seconds another server may have stored something
        clock.advance(by: .seconds(11))
        let third = try await server.send("/sources/films/titles")
        XCTAssertEqual(third.text, first.text)
        let later = try await self.lookUps(server)
        XCTAssertGreaterThan(later, again)
    }

    func testListShowsKnownPosters() async throws {
        // Given a list
        let server = try await server(titles: 3)
        let first = try await server.send("/sources/films/titles")
        XCTAssertEqual(try Self.known(first), [false, false, false])
        // When the poster of one of its titles is made
        try await untilCached {
            let poster = try await server.send("/t/p/w92/films/2.jpg")
            XCTAssertEqual(poster.status, 200, poster.text)
            // Then the list shows that at once, and forgets it with a purge
            return try Self.known(try await server.send("/sources/films/titles")) == [false, true, false]
        }
        let purge = [CacheSelection.tag(.title(TitleReference(source: "films", id: "2")))]
        _ = try await server.server.responder.context.resources.cache.purge(purge)
        let third = try await server.send("/sources/films/titles")
        XCTAssertEqual(try Self.known(third), [false, false, false])
    }

    func testNewListIsAMiss() async throws {
        // Given a list that is kept, after requests of other clients, each of which has one miss
        let server = try await server(
            titles: 3, keys: "clients: { trustedProxies: [loopback], perAddress: { misses: 0.001, burst: 1 } }")
        var others = 0
        try await untilCached {
            others += 1
            let before = try await lookUps(server)
            let answer = try await server.send("/sources/films/titles", fields: [("X-Forwarded-For", "192.0.2.\(others)")])
            let after = try await lookUps(server)
            return answer.status == 200 && after == before
        }
        // When a client has spent its only miss on another list, then it gets the kept one, and no third one
        let client = [("X-Forwarded-For", "198.51.100.1")]
        let spent = try await server.send("/sources/films/titles?page=2", fields: client)
        XCTAssertEqual(spent.status, 200, spent.text)
        let kept = try await server.send("/sources/films/titles", fields: client)
        XCTAssertEqual(kept.status, 200, kept.text)
        let third = try await server.send("/sources/films/titles?page=3", fields: client)
        XCTAssertEqual(third.status, 429, third.text)
    }

    /// Asks until no tier is asked for the list.
    private func untilKept(_ server: RunningServer) async throws {
        try await untilCached {
            let before = try await lookUps(server)
            _ = try await server.send("/sources/films/titles")
            return try await lookUps(server) == before
        }
    }

    /// Whether the facts about each poster are known.
    private static func known(_ answer: ServerAnswer) throws -> [Bool] {
        try XCTUnwrap(try answer.json()["titles"] as? [[String: Any]], answer.text).map { $0["poster"] != nil }
    }

    private func lookUps(_ server: RunningServer) async throws -> Int {
        let total = try await server.server.responder.context.resources.disk.statistics().total
        return total.hits + total.misses
    }

    private func server(titles: Int, keys: String = "") async throws -> RunningServer {
        let picture = try Picture.jpeg(width: 90, height: 135)
        let items = (1...titles).map { "{\"id\":\"\($0)\",\"name\":\"Film \($0)\"}" }.joined(separator: ",")
        let origin = try await origin { target, fields in
            if target == "/image" { return .answer(type: "image/jpeg", body: picture) }
            let url = "http://\(fields["host"] ?? "")/image"
            let body = target.hasPrefix("/list") ? items : "{\"url\":\"\(url)\"}"
            let document = "{\"id\":\"2\",\"name\":\"Film 2\",\"items\":[\(body)],\"pages\":9}"
            return .answer(type: "application/json", body: ByteBuffer(string: document))
        }
        return try await server(
            sources: """
                films:
                  type: rest
                  networks: [loopback]
                  api:
                    baseURL: "\(origin.url)"
                    list: { get: "/list{?page}", items: /items, pages: /pages, fields: &f { id: /id, name: /name } }
                    title: { get: "/title{?id}", fields: { id: /id, name: /name } }
                    candidates: { get: "/pictures{?id}", items: /items, fields: { url: /url } }
                """.replacing("&f ", with: ""), keys: keys, clock: clock.wallClock)
    }
}
