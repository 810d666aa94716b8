import ConfigurationYAML
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import S3Store

final class S3SourceTests: S3TestCase {
    private static let keys = "bucket: posters\nregion: eu-central-1\naccessKey: a\nsecretKey: s\n"
    private static let root = "https://s3.eu-central-1.amazonaws.com/posters"

    private static func source(_ yaml: String, _ transport: any HTTPTransport = FakeTransport()) throws -> S3Source {
        try S3Source(
            try ConfigurationDecoder().decode(S3Source.Configuration.self, from: try ConfigurationValue(yaml: yaml)),
            context: .forTesting(transport: transport))
    }

    private static func listing(_ names: [String], more: Bool = false) -> String {
        let contents = names.map { "<Contents><Key>\($0)</Key><Size>9</Size><ETag>&quot;e&quot;</ETag></Contents>" }.joined()
        return "<ListBucketResult><IsTruncated>\(more)</IsTruncated>\(contents)</ListBucketResult>"
    }

    /// A bucket of three thousand posters and other objects, of which it gives as many as asked for.
    private static func bucket() -> FakeTransport {
        bucket((1...2500).map { "poster/film \(10_000 + $0).jpg" } + ["poster/readme.txt", "posters/x.jpg"])
    }

    private static func bucket(_ names: [String]) -> FakeTransport {
        let transport = FakeTransport()
        transport.on(root) { request throws(HTTPTransportError) in
            let query = Dictionary(
                uniqueKeysWithValues: (WebURL(request.url)?.query ?? "").split(separator: "&").map { part in
                    let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    return (String(pair[0]), (try? PercentEncoding.decode(pair[1])) ?? "")
                })
            let (prefix, after) = (query["prefix"] ?? "", query["start-after"] ?? "")
            let found = names.filter { $0.hasPrefix(prefix) && $0 > after }
            let limit = Int(query["max-keys"] ?? "") ?? 0
            let text = listing(Array(found.prefix(limit)), more: found.count > limit)
            return HTTPAnswer(status: 200, headers: [:], body: ByteBuffer(string: text))
        }
        return transport
    }

    func testSourceConforms() async throws {
        let report = await SourceConformance(
            transport: Self.bucket(), knownID: "film 10001", unknownID: "film 1", list: TitleQuery()
        ) { transport in
            try Self.source(Self.keys + "pathStyle: true\nobjects: \"poster/{id}.jpg\"", transport)
        }.run()
        XCTAssertEqual(report.failures.map { "\($0)" }, [])
    }

    func testPagesAreReachedInAnyOrder() async throws {
        // Given a source whose pages no one has read
        let transport = Self.bucket()
        let source = try Self.source(Self.keys + "pathStyle: true\nobjects: \"poster/{id}.jpg\"", transport)
        // When the last page is read, then the one before
        let last = try await source.titles(TitleQuery(page: 3))
        let second = try await source.titles(TitleQuery(page: 2))
        // Then each has its titles, and the way there was walked once
        XCTAssertEqual(last.titles.map(\.id).first, "film 12001")
        XCTAssertEqual([last.titles.count, last.next ?? 0], [500, 0])
        XCTAssertEqual([second.titles.first?.id, second.titles.last?.id], ["film 11001", "film 12000"])
        XCTAssertEqual([second.titles.count, second.next ?? 0], [1000, 3])
        XCTAssertEqual(transport.requests.count, 4)
        let beyond = try await source.titles(TitleQuery(page: 9))
        XCTAssertEqual(beyond, TitlePage(titles: []))
    }

    func testIDsAreTheNamesOfObjects() async throws {
        let source = try Self.source(
            Self.keys + "pathStyle: true\nobjects: { poster: \"p/{id}.jpg\", logo: \"l/{id}\", banner: \"b/{id}\" }",
            Self.bucket(["l/films/1 ?", "p/films/1 ?.jpg", "p/films/1 ?.jpg/more", "b/films/1 ?2"]))
        let images = try await source.candidates(for: "films/1 ?")
        XCTAssertEqual(images.map(\.kind), [.poster, .logo])
        XCTAssertEqual(images.map(\.location.name), ["\(Self.root)/p/films/1%20%3F.jpg", "\(Self.root)/l/films/1%20%3F"])
        for id in ["films/1", "a/../b", "", "a//b", "a\u{0}", String(repeating: "a", count: 1100)] {
            do throws(SourceError) {
                _ = try await source.candidates(for: id)
                XCTFail("“\(id)” has images")
            } catch {
                XCTAssertEqual(error, .notFound(id: id))
            }
        }
    }

    func testAddressOfAnObjectIsThatOfItsPoster() throws {
        let source = try Self.source(Self.keys + "objects: { poster: \"p/{id}.jpg\", logo: \"l/{id}.png\" }")
        XCTAssertEqual(source.canonicalID(ofObject: "p/films/1.jpg", in: "posters"), "films/1")
        // Other kinds, other buckets, and names that no object has
        for (name, bucket) in [
            ("l/films/1.png", "posters"), ("films/1.jpg", "posters"), ("p/.jpg", "posters"), ("p/a//b.jpg", "posters"),
            ("", "posters"), ("p/../x.jpg", "posters"), ("p/films/1.jpg", "poster"), ("p/films/1.jpg", "Posters"),
            ("p/films/1.jpg", ""),
        ] {
            XCTAssertNil(source.canonicalID(ofObject: name, in: bucket), "\(bucket)/\(name)")
        }
        let any = try Self.source(Self.keys + "objects: \"{id}\"")
        XCTAssertEqual(any.canonicalID(ofObject: "films/1.png", in: "posters"), "films/1.png")
        XCTAssertNil(try Self.source(Self.keys + "objects: { logo: \"{id}\" }").canonicalID(ofObject: "1.png", in: "posters"))
    }

    func testRequestsAreSignedForTheirURL() throws {
        let policy = try Self.source(Self.keys).originPolicy
        let signer = try XCTUnwrap(policy.signer)
        let host = "https://posters.s3.eu-central-1.amazonaws.com"
        let one = try XCTUnwrap(WebURL("\(host)/a%20b.jpg"))
        let other = try XCTUnwrap(WebURL("\(host)/?list-type=2&prefix=a%20b"))
        // The signature of a URL that is read as the client of the store signs it
        let credentials = RequestSigner(S3Credentials(accessKey: "a", secretKey: "s"), region: "eu-central-1")
        for (url, path, query) in [(one, "/a%20b.jpg", []), (other, "/", [("list-type", "2"), ("prefix", "a b")])] {
            let expected = credentials.headers(
                for: .init(method: "GET", host: "posters.s3.eu-central-1.amazonaws.com", path: path, query: query),
                at: ManualClock().wallClock.now)
            XCTAssertEqual(signer.headers(url), Dictionary(uniqueKeysWithValues: expected.map { ($0.name, $0.value) }))
        }
        XCTAssertNotEqual(signer.headers(one), signer.headers(other))
        // Nothing but the bucket may be asked.
        XCTAssertTrue(policy.allow?.allSatisfy { $0.matches(one) } ?? false)
        XCTAssertFalse(
            policy.allow?.contains { $0.matches(WebURL("https://other.s3.eu-central-1.amazonaws.com/a") ?? one) } ?? true)
    }

    func testRefusalOfTheBucketIsToldToTheAdministrator() async throws {
        let transport = FakeTransport()
        transport.on(
            "https://posters.s3", status: 403, "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>")
        let source = try Self.source(Self.keys, transport)
        do throws(SourceError) {
            _ = try await source.titles(TitleQuery())
            XCTFail("there is no error")
        } catch {
            guard case .unauthorized(let message) = error else { return XCTFail("\(error)") }
            XCTAssertTrue(message.contains("`secretKey`"), message)
        }
    }

    func testImpossibleValuesAreErrorsOfTheirKeys() {
        let cases = [
            ("objects: \"poster/550.jpg\"", "objects"), ("objects: \"{id}/{id}.jpg\"", "objects"), ("objects: {}", "objects"),
            ("objects: { postre: \"{id}\" }", "objects"), ("deadline: 2s", "deadline"), ("baseURL: \"http://a\"", "baseURL"),
            ("pathStyle: false\nendpoint: \"http://10.0.0.1\"", "pathStyle"), ("sessionToken: \"a b\"", "sessionToken"),
        ]
        for (yaml, path) in cases {
            XCTAssertThrowsError(try Self.source(Self.keys + yaml), yaml) { error in
                XCTAssertTrue((error as? ConfigurationError)?.path.hasPrefix(path) ?? false, "\(yaml): \(error)")
            }
        }
    }
}
