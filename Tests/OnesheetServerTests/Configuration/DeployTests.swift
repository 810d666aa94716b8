import Foundation
import OnesheetCore
import XCTest

@testable import OnesheetServer

/// What `examples/deploy` says in several files is the same in all of them, and the server takes it.
final class DeployTests: XCTestCase {
    private let secrets = ["ONESHEET_KEY": "0a0b", "ONESHEET_SALT": "0c0d"]

    func testThatTheConfigurationIsRightForAMachineAndForAContainer() throws {
        let text = try file("onesheet.yaml")
        // Given what the unit sets, and what the image does
        let machine = try ConfigurationFile(environment: secrets).parse(text)
        let image = try ConfigurationFile(environment: secrets.merging(try imageEnvironment()) { $1 }).parse(text)
        // Then the server starts with both
        try machine.requireProtection()
        try image.requireProtection()
        XCTAssertEqual(machine.listen, .socket(path: "/run/onesheet/onesheet.sock"))
        XCTAssertEqual(image.listen, .host("0.0.0.0", port: 8080))
        XCTAssertNil(machine.admin.token.flatMap { $0.isEmpty ? nil : $0 })
        // And not without its secrets
        XCTAssertThrowsError(try ConfigurationFile(environment: [:]).parse(text)) {
            XCTAssertTrue("\($0)".contains("ONESHEET_KEY is not set"), "\($0)")
        }
    }

    func testThatTheUnitStartsWhatThereIsAndLetsItEnd() throws {
        let unit = try settings("onesheet.service")
        let configuration = try ConfigurationFile(environment: secrets).parse(try file("onesheet.yaml"))
        XCTAssertEqual(
            try XCTUnwrap(unit["ExecStart"]).split(separator: " ").dropFirst(),
            ["serve", "--config", "/etc/onesheet/onesheet.yaml"])
        // The folders that it may write to are the configuration's.
        XCTAssertEqual("/var/cache/" + (unit["CacheDirectory"] ?? ""), configuration.cache.disk.path)
        XCTAssertEqual(configuration.listen, .socket(path: "/run/\(unit["RuntimeDirectory"] ?? "")/onesheet.sock"))
        // Nobody kills it while it drains.
        let patience = try XCTUnwrap(unit["TimeoutStopSec"].flatMap { Double($0.dropLast()) })
        XCTAssertGreaterThan(patience, configuration.shutdown.delay.seconds + configuration.shutdown.deadline.seconds)
        XCTAssertGreaterThan(Int(unit["LimitNOFILE"] ?? "") ?? 0, 2 * configuration.clients.connections)
    }

    func testThatTheImageServesWhatItExposesAndHasTimeToEnd() throws {
        let dockerfile = try file("Dockerfile")
        let configuration = try ConfigurationFile(environment: secrets.merging(try imageEnvironment()) { $1 }).parse(
            try file("onesheet.yaml"))
        XCTAssertTrue(dockerfile.contains("VOLUME \(configuration.cache.disk.path)\n"))
        XCTAssertTrue(dockerfile.contains("EXPOSE 8080\n"))
        XCTAssertTrue(dockerfile.contains("http://127.0.0.1:8080/health"))
        XCTAssertTrue(dockerfile.contains("USER onesheet\n"))
        XCTAssertTrue(dockerfile.contains("\"serve\", \"--config\", \"/etc/onesheet/onesheet.yaml\""))
        let compose = try file("compose.yaml")
        let grace = try XCTUnwrap(compose.firstMatch(of: /stop_grace_period: ([0-9]+)s/).flatMap { Double($0.1) })
        XCTAssertGreaterThan(grace, configuration.shutdown.delay.seconds + configuration.shutdown.deadline.seconds)
    }

    func testThatNginxFindsTheSocket() throws {
        let nginx = try file("nginx.conf")
        XCTAssertTrue(nginx.contains("server unix:/run/onesheet/onesheet.sock;"))
        // What Onesheet knows its clients by, and the limits in front of it.
        for line in [
            "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;", "limit_req zone=onesheet_requests ",
            "limit_conn onesheet_connections ",
        ] {
            XCTAssertTrue(nginx.contains(line), line)
        }
    }

    /// What the image sets with `ENV`.
    private func imageEnvironment() throws -> [String: String] {
        let line = try XCTUnwrap(try file("Dockerfile").split(separator: "\n").first { $0.hasPrefix("ENV ") })
        return Dictionary(
            uniqueKeysWithValues: line.split(separator: " ").dropFirst().map { pair in
                let parts = pair.split(separator: "=")
                return (String(parts[0]), String(parts[1]))
            })
    }

    /// The settings of a unit file; the last of several with one name.
    private func settings(_ name: String) throws -> [String: String] {
        var settings: [String: String] = [:]
        for line in try file(name).split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { settings[String(parts[0])] = String(parts[1]) }
        }
        return settings
    }

    private func file(_ name: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../examples/deploy")
        return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }
}
