import Foundation
import JPEGCodec
import OnesheetCore
import OnesheetTesting
import XCTest

/// Pictures of many kinds, rendered in processes and in threads by the real program. What libraries look up when they are first used must
/// be known before a process is locked in.
final class TwoIsolationsTests: CommandTestCase {
    func testThatPicturesAreTheSameInProcessesAndInThreads() async throws {
        // Given a server that renders in processes and one that renders in threads
        let films = folder.appending(path: "films")
        try FileManager.default.createDirectory(at: films, withIntermediateDirectories: true)
        try write(to: films)
        let servers = try await [serve("process"), serve("thread")]
        // And originals in the other formats
        for format in Self.formats {
            let made = try await WebAnswer.to(servers[1].url + "/i/unsafe/w:90/plain/films://plain@\(format)")
            try made.body.write(to: films.appending(path: "made-\(format).\(format)"))
        }
        try Data(DrawnGIF(width: 60, height: 90, isInterlaced: true).file).write(to: films.appending(path: "drawn.gif"))
        // When pictures of many kinds are asked for in many ways
        for path in paths {
            var answers: [WebAnswer] = []
            for server in servers { answers.append(try await WebAnswer.to(server.url + path)) }
            // Then both give the same bytes
            XCTAssertEqual(answers[0].status, 200, "\(path): \(answers[0].text.prefix(300))")
            XCTAssertEqual(answers[0].status, answers[1].status, path)
            XCTAssertEqual(answers[0].body, answers[1].body, path)
        }
        // And no process was lost
        let metrics = try await WebAnswer.to(servers[0].url + "/metrics").text
        let lost = metrics.split(separator: "\n").filter { $0.hasPrefix("onesheet_workers_lost_total{") && !$0.hasSuffix(" 0") }
        XCTAssertEqual(lost, [])
        XCTAssertTrue(metrics.contains("onesheet_workers_lost_total{reason=\"forbidden\"} 0"))
        for server in servers { Program.end(server.process) }
    }

    private static let profiles: [(name: String, profile: [UInt8], model: ColorModel)] = [
        ("p3", DrawnProfile.displayP3, .rgb), ("srgb", DrawnProfile.sRGB, .rgb), ("linear", DrawnProfile.linearSRGB, .rgb),
        ("stages", DrawnProfile.displayP3(stages: 4), .rgb), ("gray", DrawnProfile.gray(gamma: 1.8), .gray),
        ("broken", Array(DrawnProfile.displayP3.prefix(200)), .rgb),
    ]
    private static let formats = ["jpg", "png", "webp", "avif"]

    /// Addresses below films: every kind of original in every format, and one original with every option.
    private var paths: [String] {
        let names = Self.profiles.map(\.name) + Self.formats.map { "made-\($0)" } + ["plain", "progressive", "upright", "drawn"]
        let options = [
            "rs:fill:60:60/g:sm", "rs:force:33:77", "bl:3", "sh:1", "pix:4", "t:10", "rot:90", "fl:1:1",
            "bg:ff0000/ex:1/rs:fit:90:90",
            "pd:5:6:7:8", "mb:1500", "q:95", "sm:0", "scp:0", "c:40:40:ce", "el:1/rs:fit:900:0", "dpr:2/w:40",
        ]
        return names.flatMap { name in Self.formats.map { "/i/unsafe/w:48/plain/films://\(name)@\($0)" } }
            + options.flatMap { option in ["jpg", "png"].map { "/i/unsafe/\(option)/plain/films://p3@\($0)" } }
    }

    private func write(to films: URL) throws {
        let codec = JPEGCodec()
        let poster = DrawnPoster(width: 120, height: 180)
        for (name, profile, model) in Self.profiles {
            let file = try poster.file(codec, model, options: EncodeOptions(quality: 90, profile: profile))
            try Data(file).write(to: films.appending(path: "\(name).jpg"))
        }
        var progressive = JPEGCodec.Configuration()
        progressive.progressive = true
        try Data(poster.file(codec)).write(to: films.appending(path: "plain.jpg"))
        try Data(poster.file(JPEGCodec(progressive))).write(to: films.appending(path: "progressive.jpg"))
        // EXIF with orientation 6.
        let exif: [UInt8] = [
            0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0,
        ]
        try Data(poster.file(codec, options: EncodeOptions(quality: 90, exif: exif))).write(
            to: films.appending(path: "upright.jpg"))
    }

    private func serve(_ isolation: String) async throws -> (process: Process, url: String) {
        let lines = [
            "sources: { films: { type: folder, path: \(folder.path)/films } }", "rendering: { isolation: \(isolation) }",
            "cache: { disk: { path: \(folder.path)/cache-\(isolation) } }",
        ]
        let configuration = folder.appending(path: "\(isolation).yaml")
        try Data(lines.joined(separator: "\n").utf8).write(to: configuration)
        return try await Program.serve(["--config", configuration.path], in: folder)
    }
}
