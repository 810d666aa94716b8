import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetServer

/// A source of two databases over HTTP.
final class MemberServingTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testImageOfTheBestMemberIsServedAndPurgedWithIt() async throws {
        // Given a film with an English poster at one database, and a Korean one at the other
        let databases = try await databases()
        let server = try await server(databases)
        let width = try Picture.header(try await server.send("/t/p/original/all/550").body).width

        // When what is known of it is asked for
        let posters = try await server.send("/sources/all/titles/550/posters").text
        let explanation = try await server.send("/explain?url=/t/p/original/all/550").text
        let title = try await server.send("/sources/all/titles/550").text

        // Then each response names the database of the image, and each database was asked each question once
        XCTAssertEqual(width, 44)
        XCTAssertTrue(posters.contains(#""source":"fanart://550""#), posters)
        XCTAssertTrue(explanation.contains("an image of fanart://550"), explanation)
        XCTAssertTrue(title.contains(#""ids":{"imdb":"tt0137523","tmdb":"550"}"#), title)
        // fanart.tv has one document for its images and its texts, which are two questions.
        for (path, count) in [("/fanart/movies/550", 2), ("/tmdb/movie/550/images", 1), ("/pictures/44-60.jpg", 1)] {
            XCTAssertEqual(databases.requests(for: path), count, path)
        }

        // When that member's title is purged
        let purge = try await server.send("/cache/?tag=title:fanart://550", method: "DELETE", fields: administrator)
        _ = try await server.send("/t/p/original/all/550")

        // Then the picture is fetched again
        XCTAssertEqual(purge.status, 200, purge.text)
        XCTAssertEqual(databases.requests(for: "/pictures/44-60.jpg"), 2)
    }

    func testOtherMemberServesWhileOneIsDown() async throws {
        // Given
        let server = try await server(try await databases(fails: true))

        // When
        let answer = try await server.send("/t/p/original/all/550")

        // Then
        XCTAssertEqual(answer.status, 200, answer.text)
        XCTAssertEqual(try Picture.header(answer.body).width, 40)
    }

    /// Two databases and their pictures, which only those get that send the header of the member.
    private func databases(fails: Bool = false) async throws -> OriginServer {
        try await origin { target, fields in
            func json(_ text: String) -> OriginAnswer { .answer(type: "application/json", body: ByteBuffer(string: text)) }
            func picture(_ width: Int, for member: String) -> OriginAnswer {
                guard fields["x-member"] == member, let picture = try? Picture.jpeg(width: width, height: 60) else {
                    return .answer(status: 403)
                }
                return .answer(type: "image/jpeg", body: picture)
            }
            switch String(target.split(separator: "?")[0]) {
            case "/tmdb/movie/550": return json(#"{"id":550,"imdb_id":"tt0137523","title":"Film","original_language":"en"}"#)
            case "/tmdb/movie/550/images":
                return json(#"{"posters":[{"file_path":"/40-60.jpg","iso_639_1":"en","vote_average":8,"vote_count":40}]}"#)
            case "/fanart/movies/550" where !fails:
                return json(
                    """
                    {"tmdb_id":"550","name":"Film","movieposter":[{"url":"http://\(fields["host"] ?? "")/pictures/44-60.jpg","lang":"ko"}]}
                    """)
            case "/pictures/40-60.jpg": return picture(40, for: "tmdb")
            case "/pictures/44-60.jpg": return picture(44, for: "fanart")
            default: return .answer(status: 500)
            }
        }
    }

    private func server(_ databases: OriginServer) async throws -> RunningServer {
        func member(_ name: String, _ variables: String) -> String {
            """
            \(name):
              type: rest
              manifest: \(name)
              variables: { \(variables) }
              baseURL: "\(databases.url)/\(name)"
              headers: { X-Member: \(name) }
              networks: [loopback]

            """
        }
        return try await server(
            sources: "all: { type: first, sources: [tmdb, fanart], languages: [ko, original, none] }\n"
                + member("tmdb", "token: t, pictures: \"\(databases.url)/pictures\"") + member("fanart", "key: k"),
            keys: "admin: { token: secret-for-tests }\nsigning: { unsafe: true }")
    }
}
