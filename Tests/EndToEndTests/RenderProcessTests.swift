import Foundation
import JPEGCodec
import OnesheetCore
import OnesheetTesting
import XCTest

/// Decoders that attack, in the real server. Their files say what they do; see `Tests/CHostile`.
final class RenderProcessTests: RenderProcessTestCase {
    func testThatADecoderReachesNothing() async throws {
        // Given pictures whose decoder does what an attacker would
        let forbidden = [
            "read-file", "write-file", "list-folder", "link-file", "connect", "make-process", "run-program", "trace", "kill-others",
            "signal-server", "run-data", "run-heap", "raise-limits", "allow-traces", "make-file", "end-by-signal",
            "copy-descriptor", "cut-input",
            "cut-output",
        ]
        for deed in forbidden { try write(deed, "decode") }
        let (server, url) = try await serve()
        for deed in forbidden {
            // When such a picture is asked for
            let answer = try await Self.get(url + "/t/p/w92/films/\(deed).jpg")
            // Then the deed ends the process in which it was tried, twice
            XCTAssertEqual(answer.status, 422, "\(deed): \(answer.body)")
            XCTAssertTrue(answer.body.contains("(forbidden)"), "\(deed): \(answer.body)")
        }
        let lost = try await self.lost(url)
        XCTAssertEqual(lost, ["forbidden": forbidden.count * 2])
        // And the server goes on
        try await assertServes(url, server)
        Program.end(server)
        XCTAssertEqual(server.terminationStatus, 0)
    }

    func testThatADecoderThatFailsCostsItsPicture() async throws {
        // Given pictures whose decoder ends or disturbs its process
        let deeds = [
            "crash": "crash", "trap": "crash", "abort": "crash", "end": "crash", "overflow": "crash", "allocate": "memory",
            "fill-output": "crash", "write-everywhere": "garbage", "answer-garbage": "garbage", "answer-nothing": "garbage",
            "answer-lies": "garbage", "answer-page": "garbage", "answer-long": "garbage", "answer-huge": "garbage",
            "answer-size": "garbage",
        ]
        for deed in deeds.keys {
            try write(deed, "decode")
            try write(deed, "header")
        }
        let (server, url) = try await serve()
        for (deed, reason) in deeds {
            for part in ["decode", "header"] {
                // When such a picture is asked for
                let answer = try await Self.get(url + "/t/p/w92/films/\(deed)-\(part).jpg")
                // Then its request fails for a reason
                XCTAssertEqual(answer.status, 422, "\(deed) \(part): \(answer.body)")
                let words = reason == "memory" ? "memory" : "(\(reason))"
                XCTAssertTrue(answer.body.contains(words), "\(deed) \(part): \(answer.body)")
            }
            // And others are served
            try await assertServes(url, server)
        }
        Program.end(server)
        XCTAssertEqual(server.terminationStatus, 0)
    }

    func testThatInputCannotBeChangedAndNothingElseIsThere() async throws {
        // Given a decoder that maps its picture for writing, and one that looks for an environment and other descriptors
        let deeds = ["change-input", "look-around", "make-thread"]
        for deed in deeds { try write(deed, "decode") }
        let (server, url) = try await serve()
        for deed in deeds {
            // When it tries
            let answer = try await Self.get(url + "/t/p/w92/films/\(deed)-decode.jpg")
            // Then the system refuses, or there is nothing
            XCTAssertEqual(answer.status, 422)
            XCTAssertTrue(answer.body.contains("survived"), answer.body)
        }
        let lost = try await self.lost(url)
        XCTAssertEqual(lost, [:])
        Program.end(server)
    }

    func testThatADecoderThatHangsIsKilled() async throws {
        // Given pictures whose decoder never ends
        for part in ["decode", "header"] { try write("hang", part) }
        try write("wait", "decode")
        try configure("rendering: { deadline: 4s }")
        let (server, url) = try await serve()
        for picture in ["hang-decode", "hang-header", "wait-decode"] {
            // When one is asked for
            let answer = try await Self.get(url + "/t/p/w92/films/\(picture).jpg")
            // Then the request is answered
            XCTAssertEqual(answer.status, 504, answer.body)
            try await assertServes(url, server)
        }
        // And each of their processes was lost for its time. On a busy machine one may not work enough for the limit of its work.
        try await waitUntil("three processes are lost") {
            let lost = try await self.lost(url)
            return lost.values.reduce(0, +) == 3 && Set(lost.keys).isSubset(of: ["deadline", "stalled"])
        }
        let stuck = try await Self.get(url + "/metrics").body
        XCTAssertTrue(stuck.contains("onesheet_workers_stuck{lane=\"render\"} 0"))
        Program.end(server)
    }

    func testThatHostilePicturesAreAnsweredWithLowLimitsAndCostNoProcess() async throws {
        // Given limits far below the usual ones, and pictures that once cost seconds or gigabytes
        try configure("limits: { pixels: 4M, scans: 20, memory: 64MiB, originBytes: 2MiB }\nrendering: { deadline: 5s }")
        let codec = JPEGCodec()
        var progressive = JPEGCodec.Configuration()
        progressive.progressive = true
        let small = try DrawnPoster(width: 64, height: 96).file(codec)
        let stages = EncodeOptions(profile: DrawnProfile.displayP3(stages: 2000))
        var large = small
        let frame = try XCTUnwrap(small.indices.first { small[$0] == 0xFF && small[$0 + 1] == 0xC0 })
        large.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
        let scans = try DrawnPoster(width: 64, height: 96).file(JPEGCodec(progressive))
        let last = try XCTUnwrap(scans.indices.dropLast().last { scans[$0] == 0xFF && scans[$0 + 1] == 0xDA })
        let repeated =
            scans[..<last] + Array([[UInt8]](repeating: Array(scans[last..<scans.count - 2]), count: 500).joined()) + [0xFF, 0xD9]
        let segments = Array([[UInt8]](repeating: [0xFF, 0xE1, 0, 2], count: 250_000).joined())
        let pictures: [(name: String, bytes: [UInt8], statuses: [Int])] = [
            ("segments", Array(small[..<2]) + segments + small[2...], [200]),
            ("stages", try DrawnPoster(width: 64, height: 96).file(codec, options: stages), [200]),
            ("large", large, [422]),
            ("scans", Array(repeated), [422]),
            ("thin", try DrawnPoster(width: 1, height: 6000, grain: 0).file(JPEGCodec(progressive)), [200, 422]),
            ("cut", Array(small.prefix(small.count / 2)), [422]),
            ("long", small + [UInt8](repeating: 0, count: 3 << 20), [502]),
            ("empty", [], [422]),
        ]
        for picture in pictures { try Data(picture.bytes).write(to: films.appending(path: picture.name + ".jpg")) }
        let (server, url) = try await serve()
        // When each is asked for in several sizes at once
        for picture in pictures {
            try await withThrowingTaskGroup(of: Answer.self) { group in
                for width in ["w92", "w154", "w185", "w342"] {
                    group.addTask { try await Self.get("\(url)/t/p/\(width)/films/\(picture.name).jpg") }
                }
                for try await answer in group {
                    // Then each request is answered
                    XCTAssertTrue(
                        picture.statuses.contains(answer.status), "\(picture.name): \(answer.status) \(answer.body.prefix(200))")
                }
            }
        }
        // And no process was lost, and others are served
        let lost = try await self.lost(url)
        XCTAssertEqual(lost, [:])
        let answer = try await Self.get(url + "/t/p/w92/films/segments.jpg?again")
        XCTAssertEqual(answer.status, 200)
        Program.end(server)
        XCTAssertEqual(server.terminationStatus, 0)
    }

    func testThatAProcessThatWasTakenOverBlamesNoOtherPicture() async throws {
        // Given processes that pictures have taken over: they answer what comes next before they read it
        for deed in ["answer-early", "answer-twice"] { try write(deed, "decode") }
        try configure("limits: { workers: 1, memory: 64MiB }")
        let (server, url) = try await serve()
        for deed in ["answer-early", "answer-twice"] {
            let taken = try await Self.get(url + "/t/p/w92/films/\(deed)-decode.jpg")
            XCTAssertEqual(taken.status, 400, taken.body)
            // When other pictures are asked for
            for _ in 0..<4 { try await assertServes(url, server) }
        }
        // Then none is blamed
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder.appending(path: "cache/fatal-originals").path))
        Program.end(server)
    }

    func testThatAPictureThatKillsIsRememberedForADay() async throws {
        // Given a picture that has ended two processes
        try write("crash", "decode")
        let (server, url) = try await serve()
        var answer = try await Self.get(url + "/t/p/w92/films/crash-decode.jpg")
        XCTAssertEqual(answer.status, 422)
        // When it is asked for in another size
        answer = try await Self.get(url + "/t/p/w185/films/crash-decode.jpg")
        // Then no process is lost
        XCTAssertEqual(answer.status, 422)
        var lost = try await self.lost(url)
        XCTAssertEqual(lost, ["crash": 2])
        Program.end(server)
        // And when it is asked for after a restart, it is not read either
        let (second, again) = try await serve()
        answer = try await Self.get(again + "/t/p/w342/films/crash-decode.jpg")
        XCTAssertEqual(answer.status, 422)
        XCTAssertTrue(answer.body.contains("not read again for a day"), answer.body)
        lost = try await self.lost(again)
        XCTAssertEqual(lost, [:])
        Program.end(second)
        let file = folder.appending(path: "cache/fatal-originals")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
    }
}
