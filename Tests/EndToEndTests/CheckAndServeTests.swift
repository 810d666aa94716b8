import Foundation
import XCTest

/// `config check` refuses what `serve` refuses.
final class CheckAndServeTests: CommandTestCase {
    func testBothRefuseTheSameInTheSameWords() async throws {
        try Data("not a socket".utf8).write(to: folder.appending(path: "file"))
        let sample = "sources: { sample: { type: sample } }"
        for (keys, words) in [
            (
                "listen: \"999.1.1.1:80\"\nsigning: { keys: [{ key: \"0102030405060708\", salt: \"0102030405060708\" }] }",
                "999.1.1.1"
            ),
            ("listen: \"192.0.2.1:0\"\npresetsOnly: true", "192.0.2.1 is not an address of this machine"),
            ("listen: \"unix:\(folder.path)/none/a.sock\"\nsigning: { unsafe: true }", "/none/a.sock does not exist"),
            ("listen: \"unix:\(folder.path)/file/a.sock\"\nsigning: { unsafe: true }", "/file/a.sock"),
            ("listen: \"unix:\(folder.path)/file\"\nsigning: { unsafe: true }", "is not a socket"),
            ("listen: here", "is not an address"),
            ("admin: { token: short }", "admin.token"), ("tls: { certificate: none.pem, key: none.pem }", "none.pem"),
            ("cache: { disk: { path: /proc/onesheet } }", "/proc/onesheet"), ("accessLog: { path: /proc/none/log }", "/proc/none"),
            ("presets: { small: \"rz:1\" }", "rz"), ("dialects: [nobody]", "nobody"), ("dialects: [tmdb]", "“tmdb”"),
            ("fallback: { images: { poster: none.jpg } }", "none.jpg"),
            ("rendering: { watermark: { path: none.png } }", "none.png"),
            ("trustedAuthorities: none.pem", "none.pem"), ("prefetch: [{ at: \"06:00\", source: nobody }]", "nobody"),
            ("shared: { store: { type: nobody } }", "nobody"), ("cache: { tiers: [{ type: nobody }] }", "nobody"),
            ("unknown: 1", "unknown"),
        ] {
            // Given a configuration with one mistake
            try Data("\(keys)\n\(sample)\n".utf8).write(to: folder.appending(path: "onesheet.yaml"))
            let own =
                (keys.contains("listen:") ? [] : ["--listen", "127.0.0.1:0"]) + (keys.contains("disk:") ? [] : ["--cache", "c"])
            // When it is checked, and served
            let check = try await run(["config", "check"] + (keys.contains("disk:") ? [] : ["--cache", "c"]))
            let serve = try await run(["serve"] + own)
            // Then both say the same in one line
            XCTAssertEqual([check.status, serve.status], [1, 1], "\(keys)\n\(check.errors)\(serve.errors)")
            XCTAssertTrue(serve.errors.contains(words), "\(keys)\n\(serve.errors)")
            let said = serve.errors.split(separator: "\n").map { $0.trimmingPrefix("onesheet: ") }
            XCTAssertEqual(said.count, 1, "\(keys)\n\(serve.errors)")
            XCTAssertTrue(
                check.errors.contains(said.first.map(String.init) ?? "nothing"), "\(keys)\n\(check.errors)\(serve.errors)")
        }
    }

    func testCheckPassesBesideTheServer() async throws {
        let (server, url) = try await Program.serve(["--cache", "c"], in: folder)
        addTeardownBlock { Program.end(server) }
        let listen = String(url.dropFirst("http://".count))
        try Data("listen: \"\(listen)\"\nsources: { sample: { type: sample } }\n".utf8).write(
            to: folder.appending(path: "onesheet.yaml"))
        let check = try await run(["config", "check", "--cache", "c"])
        XCTAssertEqual(check.status, 0, check.errors)
    }
}
