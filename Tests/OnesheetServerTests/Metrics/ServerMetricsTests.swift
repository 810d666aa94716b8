import Foundation
import NIOCore
import XCTest

@testable import OnesheetServer

/// Requests in `/metrics`, over real connections.
final class ServerMetricsTests: ServerTestCase {
    private let poster = "/t/p/w92/sample/1.jpg"

    func testThatEveryRequestIsCountedInWhicheverWayItIsAnswered() async throws {
        for hasFastPath in [true, false] {
            // Given a server with a picture in memory
            let server = try await server(hasFastPath: hasFastPath)
            let tag = try await server.send(poster).field("ETag") ?? ""
            // When it gets many kinds of requests
            let requests = [
                plain(poster), plain(poster), plain(poster, "If-None-Match: \(tag)"),
                plain("/i/unsafe/w:92/f:jpg/plain/sample://1"),
                plain("/t/p/w1/sample/1"), plain("/nowhere"), plain("/elsewhere"), plain("/health"),
            ]
            _ = try await RawConnection.exchange(requests, with: server.url)
            // Then each is counted
            let lines = try await metrics(server)
            XCTAssertEqual(
                lines.filter { $0.hasPrefix("onesheet_requests_total{") },
                [
                    "onesheet_requests_total{route=\"/health\",status=\"2xx\"} 1",
                    "onesheet_requests_total{route=\"/i/\",status=\"2xx\"} 1",
                    "onesheet_requests_total{route=\"/t/p/\",status=\"2xx\"} 3",
                    "onesheet_requests_total{route=\"/t/p/\",status=\"3xx\"} 1",
                    "onesheet_requests_total{route=\"/t/p/\",status=\"4xx\"} 1",
                    "onesheet_requests_total{route=\"other\",status=\"4xx\"} 2",
                ], "answers early: \(hasFastPath)")
        }
    }

    func testThatEachImageIsCountedOnceWithItsTimeAndBytesWhoeverAnswers() async throws {
        for hasFastPath in [true, false] {
            // Given a picture that is made, then requested again, whole, conditionally and without its body
            let server = try await server(hasFastPath: hasFastPath)
            let first = try await server.send(poster)
            let tag = first.field("ETag") ?? ""
            _ = try await RawConnection.exchange(
                [
                    plain(poster), plain(poster, "If-None-Match: \(tag)"),
                    Array("HEAD \(poster) HTTP/1.1\r\nHost: h\r\n\r\n".utf8), plain("/t/p/w92/sample/none.jpg"),
                    plain("/t/p/w92/nosuch/1.jpg"), plain("/t/p/w92/nosuch/1.jpg", "Range: bytes=0-9"),
                ], with: server.url)
            // Then each counts once
            let lines = try await metrics(server)
            let context = "\(hasFastPath) \(lines)"
            for line in [
                "onesheet_images_total{outcome=\"made\"} 1", "onesheet_images_total{outcome=\"memory\"} 3",
                "onesheet_images_total{outcome=\"failed\"} 3", "onesheet_request_seconds_count{route=\"/t/p/\"} 7",
                "onesheet_build_info{version=\"\(ServerVersion.current)\"} 1",
            ] { XCTAssertTrue(lines.contains(line), "\(line) \(context)") }
            let bytes = lines.first { $0.hasPrefix("onesheet_response_bytes_total{route=\"/t/p/\"}") }
            let sent = Int(bytes?.split(separator: " ").last ?? "") ?? 0
            let picture = first.body.readableBytes
            XCTAssertTrue((2 * picture..<2 * picture + 1000).contains(sent), "\(sent) \(picture) \(context)")
            let fast = lines.contains("onesheet_fast_path_requests_total{route=\"/t/p/\"} \(hasFastPath ? 3 : 0)")
            XCTAssertTrue(fast, context)
        }
    }

    func testThatTheProcessHasItsStandardMetrics() async throws {
        let server = try await server()
        let lines = try await metrics(server)
        for name in [
            "cpu_seconds_total", "virtual_memory_bytes", "resident_memory_bytes", "threads", "start_time_seconds", "open_fds",
            "max_fds",
        ] {
            let line = lines.first { $0.hasPrefix("process_\(name) ") }
            XCTAssertGreaterThan(Double(line?.split(separator: " ").last ?? "") ?? 0, 0, "\(name) \(lines)")
        }
        let start = lines.first { $0.hasPrefix("process_start_time_seconds ") }?.split(separator: " ").last.flatMap { Double($0) }
        let age = Date().timeIntervalSince1970 - (start ?? 0)
        XCTAssertTrue((-10...86_400).contains(age), "\(age)")
    }

    func testThatTheServersNameIsInEveryResponseUnlessItIsSwitchedOff() async throws {
        for (keys, name) in [("", "onesheet/\(ServerVersion.current)"), ("serverHeader: false", nil)] as [(String, String?)] {
            let server = try await server(keys: keys)
            for path in [poster, poster, "/health", "/nowhere", "/metrics"] {
                let answer = try await server.send(path)
                XCTAssertEqual(answer.field("Server"), name, path)
            }
        }
    }

    func testThatThePartsOfMakingAPictureAreTimedOnceEach() async throws {
        // Given a picture that was made and served again
        let server = try await server(hasFastPath: false)
        for _ in 0..<3 { _ = try await server.send(poster) }
        // When the metrics are read
        let lines = try await metrics(server)
        // Then the render is counted once, and each lookup once
        for (stage, count) in [("origin", 1), ("render", 1), ("store", 1), ("cache", 2)] {
            XCTAssertTrue(lines.contains("onesheet_stage_seconds_count{stage=\"\(stage)\"} \(count)"), "\(stage) \(lines)")
        }
        XCTAssertTrue(lines.contains("onesheet_request_seconds_count{route=\"/t/p/\"} 3"), "\(lines)")
    }

    func testThatTheFiguresAreWhatPrometheusReads() async throws {
        let server = try await server()
        _ = try await server.send(poster)
        let lines = try await metrics(server)
        // Given the declared names
        let types = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ") }
        XCTAssertEqual(Set(types.map { $0[2] }).count, types.count, "a name is declared twice")
        let samples = lines.filter { !$0.hasPrefix("#") }
        for line in samples {
            // Then each sample has a name, labels and a number
            let parts = try XCTUnwrap(line.wholeMatch(of: /([a-z_]+)(\{[^{}]*\})? (\S+)/), line).output
            XCTAssertNotNil(Double(parts.3), line)
            let isKnown = types.contains {
                parts.1 == $0[2] || ["histogram", "summary"].contains($0[3]) && parts.1.hasPrefix($0[2] + "_")
            }
            XCTAssertTrue(isKnown, line)
        }
        // And the buckets of a histogram increase up to its count
        let buckets = samples.filter { $0.hasPrefix("onesheet_stage_seconds_bucket{stage=\"render\"") }.compactMap {
            $0.split(separator: " ").last.flatMap { Int($0) }
        }
        XCTAssertEqual(buckets.count, 14)
        XCTAssertEqual(buckets, buckets.sorted())
        XCTAssertEqual(buckets.last, 1)
    }

    func testThatWorkAndMemoryAreTold() async throws {
        let server = try await server(keys: "limits: { workers: 3, memory: 100MiB }")
        let lines = try await metrics(server)
        for line in [
            "onesheet_render_workers 3", "onesheet_render_memory_bytes 0", "onesheet_render_memory_limit_bytes \(100 << 20)",
            "onesheet_render_queue{lane=\"interactive\"} 0", "onesheet_render_queue{lane=\"prefetch\"} 0", "onesheet_connections 1",
        ] { XCTAssertTrue(lines.contains(line), "\(line) \(lines)") }
    }

    private func metrics(_ server: RunningServer) async throws -> [String] {
        try await server.send("/metrics").text.split(separator: "\n").map(String.init)
    }

    private func plain(_ target: String, _ fields: String...) -> [UInt8] {
        Array(("GET \(target) HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n").utf8)
    }
}
