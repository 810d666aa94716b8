import OnesheetCore
import XCTest

final class SourceURLTests: XCTestCase {
    func testThatASourceURLFindsItsSource() throws {
        let url = SourceURL(sources: [("sample", Allowing(nil)), ("web", Allowing("https://*.example.com/posters/"))])
        XCTAssertEqual(try url.resolve("sample://1").title, TitleReference(source: "sample", id: "1"))
        XCTAssertEqual(
            try url.resolve("HTTPS://A.Example.com/posters/1?x=2#top").title,
            TitleReference(source: "web", id: "https://a.example.com/posters/1?x=2"))
    }

    func testThatASourceURLThatNobodyAllowsIsForbidden() {
        let url = SourceURL(sources: [("sample", Allowing(nil)), ("web", Allowing("https://*.example.com/posters/"))])
        for text in [
            "https://notexample.com/posters/1", "https://a.example.com/other", "https://a.example.com.attacker.com/posters/1",
            "http://a.example.com/posters/1", "https://a.example.com:444/posters/1", "https://a.example.com/posters/../secret",
        ] {
            XCTAssertThrowsError(try url.resolve(text), text) { error in
                guard case .forbidden? = error as? RequestError else { return XCTFail("\(text): \(error)") }
            }
        }
    }

    func testThatASourceIsGivenTheCheckedURL() throws {
        let url = SourceURL(sources: [("web", Numbering())])
        XCTAssertEqual(try url.resolve("https://example.com/posters/7").title, TitleReference(source: "web", id: "of /posters/7"))
    }

    func testObjectOfABucketIsATitleOfItsSource() throws {
        // Given two buckets, and an address of an object as imgproxy has it
        let sources: [(name: String, source: any ContentSource)] = [
            ("sample", Allowing(nil)), ("own", Bucket(name: "posters")), ("other", Bucket(name: "stills")),
        ]
        // When it is resolved, then it is the title of the source with the bucket
        let found = try SourceURL(sources: sources).resolve("s3://stills/films/1.png")
        XCTAssertEqual(found.title, TitleReference(source: "other", id: "of films/1.png"))
        // And is refused without one
        for text in ["s3://poster/films/1.png", "s3://posters/", "s3://posters", "s3:///films/1.png"] {
            XCTAssertThrowsError(try SourceURL(sources: sources).resolve(text), text) { error in
                guard case .forbidden(let reason)? = error as? RequestError else { return XCTFail("\(text): \(error)") }
                XCTAssertTrue(reason.contains("no source has \(text); add one of type s3"), reason)
            }
        }
        // And a source that is called s3 has ids of its own
        let own = SourceURL(sources: sources + [("s3", Allowing(nil))])
        XCTAssertEqual(try own.resolve("s3://posters/1.png").title, TitleReference(source: "s3", id: "posters/1.png"))
    }

    private struct Bucket: ContentSource {
        let name: String
        let originPolicy = OriginPolicy()
        func canonicalID(ofObject name: String, in bucket: String) -> String? {
            bucket == self.name && !name.isEmpty ? "of \(name)" : nil
        }
        func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("titles") }
        func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }
        func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }
    }

    /// Would parse no text.
    private struct Numbering: ContentSource {
        let originPolicy = OriginPolicy(allow: URLPrefix("https://example.com/").map { [$0] })
        func canonicalID(_ id: String) -> String { "text" }
        func canonicalID(of url: WebURL) -> String { "of \(url.path)" }
        func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("titles") }
        func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }
        func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }
    }

    private struct Allowing: ContentSource {
        let originPolicy: OriginPolicy
        init(_ prefix: String?) { originPolicy = OriginPolicy(allow: prefix.flatMap(URLPrefix.init).map { [$0] }) }
        func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { throw .unsupported("titles") }
        func title(_ id: String) async throws(SourceError) -> Title { throw .notFound(id: id) }
        func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] { [] }
    }
}
