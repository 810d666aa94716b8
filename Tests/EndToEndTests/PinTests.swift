import Foundation
import OnesheetClient
import XCTest

/// A running server follows the decisions of the command line about posters.
final class PinTests: XCTestCase {
    private var folder = URL(filePath: "/")

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "posters"), withIntermediateDirectories: true)
        addTeardownBlock { [folder] in try FileManager.default.removeItem(at: folder) }
    }

    func testThatPinRejectAndBlockReachARunningServer() async throws {
        // Given a title with two pictures, of which a server shows the larger file
        let configuration = """
            cache: { disk: { path: cache } }
            sources: { art: { type: folder, path: posters }, sample: { type: sample } }
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "onesheet.yaml"))
        let (server, url) = try await Program.serve([], in: folder)
        defer { Program.end(server) }
        let (addresses, film) = (PosterAddresses(at: url), TitleReference(source: "art", id: "film"))
        let pictures = try await [get("\(url)/t/p/w342/sample/1.jpg"), get("\(url)/t/p/w185/sample/2.jpg")]
        XCTAssertGreaterThan(pictures[0].count, pictures[1].count)
        try pictures[0].write(to: folder.appending(path: "posters/film.jpg"))
        try pictures[1].write(to: folder.appending(path: "posters/film.jpeg"))
        let poster = try addresses.poster(of: film, size: "original")
        try await assertShows(pictures[0], poster)

        // When commands decide otherwise, then the server follows within a second
        for (command, shown) in [("pin", 1), ("unpin", 0), ("reject", 1)] {
            try await run([command, "art", "film"] + ["pin": ["2"], "reject": ["1"]][command, default: []])
            try await assertShows(pictures[shown], poster)
        }
        var hash: String?
        try await poll {
            _ = try await get(poster)
            hash = try await PosterServer(at: url).candidates(for: film).current?.hash
            return hash != nil
        }
        try await run(["block", try XCTUnwrap(hash)])
        var last: Int?
        try await poll {
            last = try await WebAnswer.to(addresses.poster(of: film, width: 92, format: .jpeg)).status
            return last == 404
        }
        XCTAssertEqual(last, 404)
    }

    private func run(_ arguments: [String]) async throws {
        let outcome = try await Program.run(["sources"] + arguments, in: folder)
        XCTAssertEqual(outcome.status, 0, "\(arguments): \(outcome.errors)")
    }

    private func assertShows(_ picture: Data, _ url: String, line: UInt = #line) async throws {
        var shown = Data()
        try await poll {
            shown = try await get(url)
            return shown == picture
        }
        XCTAssertTrue(shown == picture, "\(shown.count) bytes instead of \(picture.count)", line: line)
    }

    /// Polls until `condition` holds, for at most half a minute: another process sends the server no notification.
    private func poll(until condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(30)
        while try await !condition(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(100)) }
    }

    private func get(_ url: String) async throws -> Data { try await WebAnswer.to(url).body }
}
