import Foundation
import NIOCore
import OnesheetAddress
import OnesheetCore
import OnesheetTesting
import PNGCodec
import XCTest

@testable import OnesheetServer

/// Kinds and languages of images over HTTP, with a service that answers as TMDB does.
final class ImageKindTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    /// The images of the film, each of a width of its own, in an order that lies.
    private static let images = """
        {"id":550,"backdrops":[
        {"file_path":"/160-90.jpg","iso_639_1":"en","vote_average":9,"vote_count":50,"width":160,"height":90},
        {"file_path":"/170-90.jpg","iso_639_1":null,"vote_average":5,"vote_count":2,"width":170,"height":90}],
        "logos":[
        {"file_path":"/drawing.svg","iso_639_1":"ja","vote_average":5,"vote_count":2,"width":70,"height":20},
        {"file_path":"/script.svg","iso_639_1":"de","vote_average":5,"vote_count":2,"width":70,"height":20},
        {"file_path":"/50-20.png","iso_639_1":"en","iso_3166_1":"US","vote_average":5,"vote_count":2,"width":50,"height":20},
        {"file_path":"/60-20.png","iso_639_1":"ko","iso_3166_1":"KR","vote_average":0,"vote_count":0,"width":60,"height":20}],
        "posters":[
        {"file_path":"/40-60.jpg","iso_639_1":"en","iso_3166_1":"US","vote_average":8,"vote_count":40,"width":40,"height":60},
        {"file_path":"/42-60.jpg","iso_639_1":"fr","iso_3166_1":"FR","vote_average":5,"vote_count":3,"width":42,"height":60},
        {"file_path":"/44-60.jpg","iso_639_1":"ko","iso_3166_1":"KR","vote_average":1,"vote_count":1,"width":44,"height":60},
        {"file_path":"/46-60.jpg","iso_639_1":"ko","iso_3166_1":"KR","vote_average":6,"vote_count":9,"width":46,"height":60},
        {"file_path":"/48-60.jpg","iso_639_1":"xx","vote_average":7,"vote_count":9,"width":48,"height":60}]}
        """

    private func tmdb() async throws -> OriginServer {
        let logo = try Self.transparent()
        return try await origin { target, _ in
            let path = target.split(separator: "?")[0]
            let genre = target.contains("language=ko") ? "전쟁" : target.contains("language=fr") ? "Guerre" : "War"
            if path == "/movie/550" {
                return .answer(
                    type: "application/json",
                    body: ByteBuffer(
                        string:
                            #"{"id":550,"title":"Film","original_title":"Le film","original_language":"fr","overview":"About.","genres":[{"id":10752,"name":"\#(genre)"}],"translations":{"translations":[{"iso_639_1":"ko","data":{"title":"영화","overview":""}},{"iso_639_1":"fr","data":{"title":"","overview":"Sujet."}}]}}"#
                    ))
            }
            if path.hasPrefix("/genre/") {
                return .answer(type: "application/json", body: ByteBuffer(string: #"{"genres":[{"id":10752,"name":"\#(genre)"}]}"#))
            }
            if path == "/movie/550/images" { return .answer(type: "application/json", body: ByteBuffer(string: Self.images)) }
            let name = path.split(separator: "/").last ?? ""
            if path.hasSuffix(".svg") {
                let inner = name == "script.svg" ? "<script/>" : #"<path id="drawn" d="M0 0h9v9z"/>"#
                // What the service calls it does not matter.
                return .answer(
                    type: "text/plain", body: ByteBuffer(string: "<!DOCTYPE svg><svg width='70' height='20'>\(inner)</svg>"))
            }
            let sides = (name.split(separator: ".").first ?? "").split(separator: "-").compactMap { Int($0) }
            guard sides.count == 2 else { return .answer(status: 404) }
            if path.hasSuffix(".png"), let logo = logo[sides[0]] { return .answer(type: "image/png", body: logo) }
            guard let picture = try? Picture.jpeg(width: sides[0], height: sides[1]) else { return .answer(status: 500) }
            return .answer(type: "image/jpeg", body: picture)
        }
    }

    /// Logos of the two widths, half transparent.
    private static func transparent() throws -> [Int: ByteBuffer] {
        var logos: [Int: ByteBuffer] = [:]
        for width in [50, 60] {
            var pixels = try PixelBuffer(PixelLayout(width: width, height: 20, model: .rgb, hasAlpha: true), limits: Limits())
            for y in 0..<20 { pixels.withMutableRow(y) { row in for x in 0..<width * 4 { row[x] = x % 8 < 4 ? 200 : 0 } } }
            logos[width] = try PNGCodec().encode(pixels, EncodeOptions())
        }
        return logos
    }

    /// The service with a film whose only image is a logo in SVG, long enough to be compressed if it were a document.
    private func drawing() async throws -> OriginServer {
        try await origin { path, _ in
            switch path.split(separator: "?")[0] {
            case "/movie/8000":
                return .answer(
                    type: "application/json",
                    body: ByteBuffer(string: #"{"id":8000,"title":"Film","original_title":"Film","original_language":"en"}"#))
            case "/movie/8000/images":
                let logo = #"{"file_path":"/long.svg","iso_639_1":"en","vote_average":5,"vote_count":2,"width":70,"height":20}"#
                return .answer(
                    type: "application/json",
                    body: ByteBuffer(string: #"{"id":8000,"backdrops":[],"logos":[\#(logo)],"posters":[]}"#))
            case "/p/long.svg":
                let path = String(repeating: "h9v9", count: 300)
                return .answer(
                    type: "image/svg+xml", body: ByteBuffer(string: "<svg width='70' height='20'><path d='M0 0\(path)z'/></svg>"))
            default: return .answer(status: 404)
            }
        }
    }

    private func server(
        _ origin: OriginServer, languages: String = "languages: [ko, original, en, none]", cache: String? = nil
    ) async throws -> RunningServer {
        try await server(
            sources: tmdb(origin.url, variables: "token: t, pictures: \"\(origin.url)/p\"", more: languages),
            keys: "admin: { token: secret-for-tests }\nsigning: { unsafe: true }", cache: cache)
    }

    private func width(_ server: RunningServer, _ path: String, line: UInt = #line) async throws -> Int {
        let answer = try await server.send(path)
        XCTAssertEqual(answer.status, 200, "\(path) \(answer.text.prefix(200))", line: line)
        return try Picture.header(answer.body).width
    }

    func testEachKindHasTheBestOfItsLanguages() async throws {
        // Given a server whose source wants Korean images, then the original's, then English ones, then none with words
        let server = try await server(try await tmdb())
        let cases: [(String, Int)] = [
            ("/t/p/original/tmdb/550", 46), ("/t/p/original.poster.original/tmdb/550", 42),
            ("/t/p/original.poster.en/tmdb/550", 40),
            ("/t/p/original.poster.none/tmdb/550", 48), ("/t/p/original.poster.de.pt/tmdb/550", 40),
            ("/t/p/original.logo/tmdb/550", 60),
            ("/t/p/original.logo.en-GB/tmdb/550", 50), ("/t/p/original.backdrop/tmdb/550", 170),
            ("/t/p/original%2Ebackdrop%2Een/tmdb/550", 160), ("/t/p/w45.logo.ko/tmdb/550.png", 45),
            ("/t/p/h632.backdrop/tmdb/550.jpg", 170),
            ("/i/unsafe/im:backdrop/w:80/plain/tmdb://550@jpg", 80), ("/i/unsafe/im:poster:fr/plain/tmdb://550@png", 42),
        ]
        for (path, expected) in cases {
            // When the image is requested
            let width = try await width(server, path)
            // Then it is that of the rule
            XCTAssertEqual(width, expected, path)
        }
    }

    func testWithoutLanguagesVotesDecide() async throws {
        let server = try await server(try await tmdb(), languages: "")
        let poster = try await width(server, "/t/p/original/tmdb/550")
        XCTAssertEqual(poster, 40)
    }

    func testUnknownKindAndLanguageAreToldWithTheNearest() async throws {
        let server = try await server(try await tmdb())
        assertProblem(try await server.send("/t/p/w92.backdrops/tmdb/550"), 400, "did you mean “backdrop”")
        assertProblem(try await server.send("/t/p/w92.logo.Korean!/tmdb/550"), 400, "is not a language")
        assertProblem(try await server.send("/i/unsafe/im:logoo/plain/tmdb://550@jpg"), 400, "did you mean “logo”")
        assertProblem(try await server.send("/t/p/w92.banner/tmdb/550"), 404, "has no banner")
    }

    func testLogoKeepsItsTransparency() async throws {
        // Given clients that accept WebP, only JPEG, and what comes
        let server = try await server(try await tmdb())
        for (accept, type) in [("image/webp,*/*", "image/webp"), ("image/jpeg", "image/png"), ("*/*", "image/png")] {
            // When a logo is requested without a format
            let answer = try await server.send("/t/p/w45.logo/tmdb/550", fields: [("Accept", accept)])
            // Then its format has transparency
            XCTAssertEqual(answer.status, 200, answer.text)
            XCTAssertEqual(answer.field("Content-Type"), type, accept)
        }
    }

    func testLogoThatIsADrawingIsServedAsItIs() async throws {
        // Given a logo in SVG
        let server = try await server(try await tmdb())
        // When it is requested in sizes and formats
        var bodies: Set<String> = []
        for path in [
            "/t/p/original.logo.ja/tmdb/550", "/t/p/w45.logo.ja/tmdb/550.png",
            "/i/unsafe/im:logo:ja/w:9/bl:4/plain/tmdb://550@webp",
        ] {
            let answer = try await server.send(path, fields: [("Accept", "image/avif,image/webp,*/*")])
            // Then it is the sanitised drawing, with a policy that stops scripts
            XCTAssertEqual(answer.status, 200, answer.text)
            XCTAssertEqual(answer.field("Content-Type"), "image/svg+xml", path)
            XCTAssertEqual(
                answer.field("Content-Security-Policy"), "default-src 'none'; style-src 'unsafe-inline'; sandbox", path)
            XCTAssertEqual(answer.field("X-Content-Type-Options"), "nosniff", path)
            XCTAssertEqual(answer.field("Onesheet-Size"), "70x20", path)
            bodies.insert(answer.text)
        }
        XCTAssertEqual(
            bodies,
            [
                #"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 70 20" width="70" height="20"><path id="drawn" d="M0 0h9v9z"></path></svg>"#
            ])
        // And a limit of its bytes counts
        assertProblem(try await server.send("/i/unsafe/im:logo:ja/msfs:9/plain/tmdb://550@webp"), 422, "at most 9 are allowed")
    }

    func testDrawingIsTheSameForAMissAndAHit() async throws {
        // Given a client that accepts gzip, and a logo in SVG
        let (origin, cache, path) = (try await drawing(), folder(), "/t/p/w300.logo/tmdb/8000")
        let fields = [("Accept-Encoding", "gzip")]
        let earlier = try await server(origin, cache: cache)
        // When it is requested for the first time, then from memory, and from disk after a restart
        let miss = try await earlier.send(path, fields: fields)
        let hit = try await earlier.send(path, fields: fields)
        let tag = try XCTUnwrap(miss.field("ETag"))
        let known = try await earlier.send(path, fields: fields + [("If-None-Match", tag)])
        await earlier.finishStoring()
        await earlier.stop()
        let later = try await server(origin, cache: cache)
        let stored = try await later.send(path, fields: fields)
        // Then caches can take one for the other
        for (answer, origin) in [(miss, "fwd=miss"), (hit, "detail=memory"), (stored, "detail=disk")] {
            XCTAssertEqual(answer.status, 200, answer.text)
            XCTAssertTrue(answer.field("Cache-Status")?.contains(origin) ?? false, "\(answer.fields)")
            XCTAssertEqual(answer.field("ETag"), tag, origin)
            XCTAssertEqual(answer.field("Vary"), "Accept", origin)
            XCTAssertNil(answer.field("Content-Encoding"), origin)
            XCTAssertEqual(answer.body, miss.body, origin)
        }
        XCTAssertEqual(known.status, 304)
    }

    func testCandidatesHaveTheDrawingThatIsTheLogo() async throws {
        // Given a logo in SVG that was served
        let server = try await server(try await drawing())
        let logo = try await server.send("/t/p/w300.logo/tmdb/8000")
        XCTAssertEqual(logo.status, 200, logo.text)
        // When the candidates are requested
        let answer = try await server.send("/sources/tmdb/titles/8000/posters?image=logo")
        // Then it is among them, and the present one has a hash, by which it can be blocked
        XCTAssertEqual(answer.status, 200, answer.text)
        let candidates = try XCTUnwrap(try answer.json()["candidates"] as? [[String: Any]])
        XCTAssertEqual(candidates.map { $0["state"] as? String }, ["chosen"])
        XCTAssertEqual(candidates.map { $0["width"] as? Int }, [70])
        XCTAssertNil(candidates.first?["hash"])
        let current = try XCTUnwrap(try answer.json()["current"] as? [String: Any])
        XCTAssertEqual(current["mediaType"] as? String, "image/svg+xml")
        XCTAssertEqual(current["bytes"] as? Int, logo.body.readableBytes)
        XCTAssertEqual((current["hash"] as? String)?.count, 16)
    }

    func testBlockedDrawingGivesWayToTheNextLogo() async throws {
        // Given a logo in SVG that was served
        let server = try await server(try await tmdb())
        let (logo, title) = ("/t/p/original.logo.ja/tmdb/550", "/sources/tmdb/titles/550")
        let served = try await server.send(logo)
        XCTAssertEqual(served.field("Content-Type"), "image/svg+xml", served.text)
        let before = try await server.send("\(title)/posters?image=logo.ja").json()
        let hash = try XCTUnwrap((before["current"] as? [String: Any])?["hash"] as? String)
        // When it is blocked
        let block = try await server.send(
            "\(title)/poster?image=logo.ja", method: "PUT", fields: administrator, body: #"{"block":true}"#)
        // Then another logo is served
        XCTAssertEqual(block.status, 200, block.text)
        let other = try await server.send(logo)
        XCTAssertEqual(other.field("Content-Type"), "image/png", other.text)
        // And the drawing again when it is unblocked
        let blocked = try await server.send("/blocked/", fields: administrator).text
        XCTAssertTrue(blocked.contains(hash), blocked)
        _ = try await server.send("/blocked/\(hash)", method: "DELETE", fields: administrator)
        _ = try await server.send("/cache/tmdb/550", method: "DELETE", fields: administrator)
        let again = try await server.send(logo)
        XCTAssertEqual(again.field("Content-Type"), "image/svg+xml", again.text)
    }

    func testDrawingWithAScriptGivesWayToTheNextLogo() async throws {
        let server = try await server(try await tmdb())
        let answer = try await server.send("/t/p/original.logo.de.ko/tmdb/550")
        XCTAssertEqual(answer.field("Content-Type"), "image/png", answer.text)
        XCTAssertNil(answer.field("Content-Security-Policy"))
    }

    func testDrawingStaysWhenAnImageIsBlocked() async throws {
        // Given a server with a blocked poster, whose pixels each image is compared with
        let server = try await server(try await tmdb())
        _ = try await width(server, "/t/p/original/tmdb/550")
        let block = try await server.send(
            "/sources/tmdb/titles/550/poster", method: "PUT", fields: administrator, body: #"{"block":true}"#)
        XCTAssertEqual(block.status, 200, block.text)
        // When the logo is requested, then it is the drawing
        let answer = try await server.send("/t/p/original.logo.ja/tmdb/550")
        XCTAssertEqual(answer.field("Content-Type"), "image/svg+xml", answer.text)
    }

    func testWordsSayWhyThisImage() async throws {
        // Given a poster that was served
        let server = try await server(try await tmdb())
        _ = try await width(server, "/t/p/w92/tmdb/550.jpg")
        // When it is explained
        let explanation = try await server.send("/explain?url=/t/p/w92/tmdb/550.jpg").json()
        // Then the words name the list and the votes
        XCTAssertEqual(explanation["image"] as? String, "poster")
        XCTAssertEqual(
            explanation["choice"] as? [String],
            [
                "number 1 of 5 by the rule", "language ko-KR, for “ko”, number 1 of ko.original.en.none",
                "6.0 of 9 votes counts as 5.08", "46 of 780 pixels wide",
            ])
        // And the candidates are in its order, with what the source says about them
        let logos = try await server.send("/sources/tmdb/titles/550/posters?image=logo.ko").json()
        let candidates = try XCTUnwrap(logos["candidates"] as? [[String: Any]])
        XCTAssertEqual(candidates.map { $0["language"] as? String }, ["ko-KR", "ja", "de", "en-US"])
        XCTAssertEqual(Set(candidates.map { $0["kind"] as? String }), ["logo"])
        XCTAssertEqual(candidates.map { $0["count"] as? Int }, [0, 2, 2, 2])
        let posters = try await server.send("/sources/tmdb/titles/550/posters").json()
        let first = try XCTUnwrap((posters["candidates"] as? [[String: Any]])?.first)
        XCTAssertEqual(first["language"] as? String, "ko-KR")
        XCTAssertEqual(first["votes"] as? Double, 6)
        XCTAssertEqual(first["state"] as? String, "chosen")
    }

    func testExplanationNamesThePinnedImage() async throws {
        // Given a poster that was served, with a second candidate in its candidates
        let server = try await server(try await tmdb())
        _ = try await width(server, "/t/p/original/tmdb/550")
        // When the second is pinned, and nothing is asked for since
        let pin = try await server.send(
            "/sources/tmdb/titles/550/poster", method: "PUT", fields: administrator, body: #"{"candidate":2}"#)
        XCTAssertEqual(pin.status, 200, pin.text)
        // Then the words are about the second
        let explanation = try await server.send("/explain?url=/t/p/original/tmdb/550").json()
        XCTAssertEqual((explanation["choice"] as? [String])?.first, "pinned by the administrator, number 2 of 5 by the rule")
    }

    func testPinsAndRejectionsAreByKindAndLanguage() async throws {
        // Given a server with the poster, the English poster and the logo in its cache
        let server = try await server(try await tmdb())
        let path = "/sources/tmdb/titles/550"
        let all = ["original", "original.poster.en", "original.logo"]
        var widths: [Int] = []
        for size in all { widths.append(try await width(server, "/t/p/\(size)/tmdb/550")) }
        XCTAssertEqual(widths, [46, 40, 60])
        // When another logo is pinned, and the first English poster rejected
        let pin = try await server.send(
            "\(path)/poster?image=logo", method: "PUT", fields: administrator, body: #"{"candidate":2}"#)
        XCTAssertEqual(pin.status, 200, pin.text)
        let reject = try await server.send(
            "\(path)/poster?image=poster.en", method: "PUT", fields: administrator, body: #"{"reject":1}"#)
        XCTAssertEqual(reject.status, 200, reject.text)
        // Then these two have changed, and the poster has not
        widths = []
        for size in all { widths.append(try await width(server, "/t/p/\(size)/tmdb/550")) }
        XCTAssertEqual(widths, [46, 48, 50])
        // And without the decision the logo is the former one
        _ = try await server.send("\(path)/poster?image=logo", method: "DELETE", fields: administrator)
        let logo = try await width(server, "/t/p/original.logo/tmdb/550")
        XCTAssertEqual(logo, 60)
    }

    func testUnknownParametersPinNothing() async throws {
        let server = try await server(try await tmdb())
        for query in ["imge=logo", "image=logo&image=poster", "image=logo&x=1"] {
            for (method, body) in [("PUT", #"{"candidate":1}"#), ("DELETE", nil)] {
                let answer = try await server.send(
                    "/sources/tmdb/titles/550/poster?\(query)", method: method, fields: administrator, body: body)
                XCTAssertEqual(answer.status, 400, "\(method) \(query)")
            }
        }
        let posters = try await server.send("/sources/tmdb/titles/550/posters").text
        XCTAssertFalse(posters.contains("pinned"), posters)
    }

    func testTextsFollowTheWantedLanguages() async throws {
        // Given a source that wants Korean, then the original's language
        let server = try await server(try await tmdb())
        for (query, name, overview, genre) in [
            ("", "영화", "Sujet.", "전쟁"), ("?language=original", "Le film", "Sujet.", "Guerre"),
            ("?language=en.ko", "영화", "About.", "전쟁"), ("?language=de", "Film", "About.", "전쟁"),
        ] {
            // When the title is read
            let title = try await server.send("/sources/tmdb/titles/550\(query)").json()
            // Then each text is in the first language that has it
            XCTAssertEqual(title["name"] as? String, name, query)
            XCTAssertEqual(title["overview"] as? String, overview, query)
            XCTAssertEqual((title["metadata"] as? [String: Any])?["genres"] as? [String], [genre], query)
            XCTAssertNil(title["translations"])
        }
        assertProblem(try await server.send("/sources/tmdb/titles/550?language=Korean!"), 400, "is not a language")
        // And the page without scripts has them too
        let page = try await server.send("/?plain&source=tmdb&title=550").text
        XCTAssertTrue(page.contains("영화") && page.contains("Sujet."), page)
    }

    func testAddressesOfAnImageLeadToIt() async throws {
        // Given the addresses of a backdrop with options
        let server = try await server(try await tmdb())
        for (options, expected, canonical) in [
            ("im:backdrop:en/w:780", "/t/p/w780.backdrop.en/tmdb/550", ["w:780", "im:backdrop:en"]),
            ("w:33/im:logo", "/i/", ["w:33", "im:logo"]),
        ] {
            let document = try await server.send("/addresses?of=tmdb://550&options=\(options)", fields: administrator).json()
            // When it is requested at the canonical one
            let address = try XCTUnwrap(document["address"] as? String)
            XCTAssertTrue(address.hasPrefix(expected), address)
            XCTAssertEqual(document["options"] as? [String], canonical)
            let answer = try await server.send(address)
            // Then it is there, and says its own address
            XCTAssertEqual(answer.status, 200, answer.text)
            XCTAssertTrue(answer.field("Link")?.contains("<\(address)>") ?? false, answer.field("Link") ?? "no Link")
        }
        let addresses = PosterAddresses(at: "")
        XCTAssertEqual(
            addresses.image(try ImageSelector("logo.ko.none"), of: TitleReference(source: "tmdb", id: "550"), width: 100, scale: 3),
            "/t/p/w300.logo.ko.none/tmdb/550")
    }

    func testPrefetchMakesImagesOfSeveralKinds() async throws {
        // Given an order for posters, backdrops and Korean logos
        let origin = try await tmdb()
        let server = try await server(origin)
        let order =
            #"{"source":"tmdb","ids":["550"],"sizes":["w92","w300.backdrop","w45.logo.ko","w92.logo.ko"],"formats":["png"]}"#
        // When it has run
        let answer = try await server.send("/prefetch", method: "POST", fields: administrator, body: order)
        XCTAssertEqual(answer.status, 200, answer.text)
        XCTAssertEqual(try answer.json()["made"] as? Int, 4)
        // Then the images are cached, and the source was asked once
        let image = try await server.send("/t/p/w45.logo.ko/tmdb/550.png")
        XCTAssertTrue(image.field("Cache-Status")?.contains("hit") ?? false, "\(image.fields)")
        XCTAssertEqual(origin.requests(for: "/movie/550/images"), 1)
    }

    func testPrefetchOfAnImageThatATitleDoesNotHaveIsNoFailure() async throws {
        // Given a title without stills
        let server = try await server(try await tmdb())
        let order = #"{"source":"tmdb","ids":["550"],"sizes":["w92","w300.still","w92.still"],"formats":["png"]}"#
        // When
        let answer = try await server.send("/prefetch", method: "POST", fields: administrator, body: order)
        // Then
        XCTAssertEqual(["made", "none", "failed", "total"].map { try? answer.json()[$0] as? Int }, [1, 2, 0, 3], answer.text)
        XCTAssertEqual((try answer.json()["titles"] as? [[String: String]])?.map { $0["state"] }, ["new"], answer.text)
        // And a title without posters has failed
        let other = try await server.send(
            "/prefetch", method: "POST", fields: administrator, body: #"{"source":"tmdb","ids":["9999"],"sizes":["w92"]}"#)
        XCTAssertEqual(try other.json()["failed"] as? Int, 1, other.text)
    }

    func testWrongLanguagesAreErrorsOfTheConfiguration() async throws {
        for (languages, words) in [("[ko, Korean!]", "sources.sample.languages"), ("[]", "1 to 16"), ("ko", "needs a list")] {
            do {
                _ = try await server(sources: "sample: { type: sample, languages: \(languages) }")
                XCTFail(languages)
            } catch {
                XCTAssertTrue("\(error)".contains(words), "\(error)")
            }
        }
    }
}
