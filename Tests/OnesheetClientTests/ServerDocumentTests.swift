import Foundation
import OnesheetClient
import OnesheetTesting
import XCTest

/// The documents of a real server.
final class ServerDocumentTests: ClientTestCase {
    private static let title = TitleReference(source: "sample", id: "1")

    func testThatSourcesAreRead() async throws {
        let server = PosterServer(
            at: try await server(sources: "sample: { type: sample }, web: { type: remote, allow: [\"https://a.example/\"] }"))
        let sources = try await server.sources()
        XCTAssertEqual(sources.map(\.name), ["sample", "web"])
        XCTAssertEqual(sources.map(\.type), ["sample", "remote"])
        XCTAssertEqual(sources.map(\.state), [.well, .well])
        XCTAssertEqual(sources.map(\.hasLists), [true, false])
        XCTAssertEqual(sources[0].searches, true)
        XCTAssertEqual(sources[1].periods, [])
    }

    func testThatAFailureOfAnOriginIsRead() async throws {
        // Given an origin that fails
        let origin = try await origin { _, _ in .answer(status: 500) }
        let server = PosterServer(
            at: try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }"))
        // When it is asked for a picture
        let error = try await failure { () throws(ClientError) in
            _ = try await server.explain("/i/unsafe/w:92/plain/\(PercentEncoding.encode(origin.url + "/1.jpg"))@jpg", fetches: true)
        }
        // Then the error says so
        guard case .problem(let problem) = error else { return XCTFail("\(error)") }
        XCTAssertEqual([problem.status, problem.title?.isEmpty == false ? 1 : 0], [502, 1])
        XCTAssertNotNil(problem.request)
    }

    func testThatTitlesAreRead() async throws {
        // Given a server that has made a poster
        let server = PosterServer(at: try await server() + "/")
        _ = try await server.explain("sample://1", fetches: true)
        // When its titles are listed
        let list = try await server.titles(of: "sample")
        let second = try await server.titles(of: "sample", TitleQuery(page: 2))
        let found = try await server.titles(
            of: "sample", TitleQuery(date: CalendarDay("2026-11-20"), phrase: try XCTUnwrap(list.titles.first).title.name))
        // Then they are whole
        XCTAssertEqual(list.total, 24)
        XCTAssertEqual(Set((list.titles + second.titles).map(\.title.id)).count, list.titles.count + second.titles.count)
        XCTAssertTrue(found.titles.contains { $0.title.id == list.titles.first?.title.id })
        let first = try await server.title(Self.title)
        XCTAssertEqual(first.title.id, "1")
        XCTAssertFalse(first.title.name.isEmpty)
        XCTAssertEqual(first.posters["w342"], "/t/p/w342/sample/1")
        XCTAssertEqual(first.posters["w342"], PosterAddresses(at: "").poster(of: Self.title, width: 342))
        // And the poster that was made has a placeholder
        let poster = try XCTUnwrap(first.poster)
        XCTAssertEqual(poster.sizes?["w342"]?.width, 342)
        XCTAssertEqual(poster.width * 3, poster.height * 2)
        XCTAssertNotNil(poster.color)
        let pixels = try XCTUnwrap(poster.thumbHash).pixels
        XCTAssertEqual(Double(pixels.width) / Double(pixels.height), 2.0 / 3, accuracy: 0.1)
        let other = try await server.title(TitleReference(source: "sample", id: "2"))
        XCTAssertNil(other.poster)
    }

    func testThatCandidatesAreRead() async throws {
        let server = PosterServer(at: try await server())
        _ = try await server.explain("sample://1", fetches: true)
        let candidates = try await server.candidates(for: Self.title)
        XCTAssertEqual(candidates.candidates.map(\.candidate), [1])
        XCTAssertEqual(candidates.candidates.first?.state, "chosen")
        XCTAssertEqual(candidates.current?.name, candidates.candidates.first?.name)
        XCTAssertEqual(candidates.current?.mediaType, "image/jpeg")
        XCTAssertNotNil(candidates.current?.fetched)
        XCTAssertEqual(candidates.decision?.rejected, [])
    }

    func testThatAnExplanationIsRead() async throws {
        let server = PosterServer(at: try await server(), token: "secret-for-tests")
        let address = PosterAddresses(at: server.url).poster(of: Self.title, width: 92, format: .jpeg)
        // Given an image that no one has asked for
        let before = try await server.explain(address)
        XCTAssertEqual(before.missReason, "absent")
        XCTAssertEqual([before.grammar, before.title, before.source, before.id], ["sizes", "sample://1", "sample", "1"])
        XCTAssertEqual(before.options, ["w:92"])
        XCTAssertEqual(before.format, "jpg")
        XCTAssertNil(before.stored)
        // When it is made
        let made = try await server.explain(address, fetches: true)
        // Then the cache has it, and says how it was made
        XCTAssertNil(made.missReason)
        XCTAssertEqual(made.stored?.mediaType, "image/jpeg")
        XCTAssertEqual(made.stored?.width, 92)
        XCTAssertEqual(made.lastMaking?.outcome, "made")
        XCTAssertFalse(try XCTUnwrap(made.stages).isEmpty)
        XCTAssertGreaterThan(try XCTUnwrap(made.purge).entries, 0)
        XCTAssertEqual(made.canonical, "/t/p/w92/sample/1.jpg")
    }

    func testThatAddressesOfTheServerAreThoseOfTheClient() async throws {
        // Given a server with keys, and a client with the same
        let (key, salt) = (String(repeating: "ab", count: 32), String(repeating: "cd", count: 16))
        let server = PosterServer(
            at: try await server(
                keys: "signing: { keys: [{ key: \"\(key)\", salt: \"\(salt)\" }] }\ndialects: [thumbor, cloudflare]"),
            token: "secret-for-tests")
        let pair = try JSONDecoder().decode(SigningKey.self, from: Data("{\"key\": \"\(key)\", \"salt\": \"\(salt)\"}".utf8))
        let addresses = PosterAddresses(at: "", signature: Signature(keys: [pair]))
        // When the server signs a transform
        let answer = try await server.addresses(of: Self.title, options: "q:75/rs:fill:300:450", format: .png)
        // Then it is the client's address
        let transform = try ImageOptions(formats: PosterAddresses.formats).parse("rs:fill:300:450/q:75/f:png").transform
        XCTAssertEqual(answer.address, addresses.image(of: Self.title, as: transform))
        XCTAssertEqual(answer.isSigned, true)
        XCTAssertEqual(answer.format, "png")
        XCTAssertNotNil(answer.dialects["thumbor"])
        XCTAssertNil(answer.dialects["cloudflare"])
        // And the server accepts the client's own, and no other
        let explanation = try await server.explain(try addresses.image(of: "sample://1", options: "w:100/cb:x", format: .jpeg))
        XCTAssertEqual(explanation.options, ["w:100"])
        let error = try await failure { () throws(ClientError) in _ = try await server.explain("/i/unsafe/w:100/plain/sample://1") }
        guard case .problem(let problem) = error else { return XCTFail("\(error)") }
        XCTAssertEqual(problem.status, 403)
    }

    func testThatProblemsAreRead() async throws {
        let server = PosterServer(at: try await server())
        let table: [(status: Int, option: String?, words: String, call: (PosterServer) async throws(ClientError) -> Void)] = [
            (404, nil, "unknown source", { server throws(ClientError) in _ = try await server.titles(of: "nobody") }),
            (
                404, nil, "no title",
                { server throws(ClientError) in _ = try await server.title(TitleReference(source: "sample", id: "a/b?c")) }
            ),
            (
                400, "w", "needs a whole number",
                { server throws(ClientError) in _ = try await server.explain("/i/unsafe/w:x/plain/sample://1") }
            ),
            (401, nil, "token", { server throws(ClientError) in _ = try await server.prefetches() }),
            (401, nil, "token", { server throws(ClientError) in _ = try await server.cost(of: PrefetchOrder(source: "sample")) }),
        ]
        for (status, option, words, call) in table {
            // When a request is wrong
            let error = try await failure { () throws(ClientError) in try await call(server) }
            // Then the error has the server's problem
            guard case .problem(let problem) = error else { return XCTFail("\(error)") }
            XCTAssertEqual(problem.status, status, words)
            XCTAssertEqual(problem.option, option, words)
            XCTAssertEqual(problem.type, "about:blank")
            XCTAssertTrue((problem.detail ?? "").contains(words), "\(problem)")
            XCTAssertFalse((problem.title ?? "").isEmpty)
            XCTAssertFalse((problem.request ?? "").isEmpty)
        }
    }
}
