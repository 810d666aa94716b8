import Foundation
import OnesheetCore
import XCTest

@testable import OnesheetServer

/// The files of `examples/deploy` agree with one another, and the server accepts them.
final class DeployTests: XCTestCase {
    private let secrets = ["ONESHEET_SIGNING_KEY": "0a0b", "ONESHEET_SIGNING_SALT": "0c0d"]

    func testConfigurationStartsAServer() throws {
        let text = try file("onesheet.yaml")
        // Given the variables of the unit
        let machine = try ConfigurationFile(environment: secrets).parse(text)
        // Then the server starts
        try machine.requireProtection()
        XCTAssertEqual(machine.listen, .socket(path: "/run/onesheet/onesheet.sock"))
        XCTAssertNil(machine.admin.token.flatMap { $0.isEmpty ? nil : $0 })
        // And not without its secrets
        XCTAssertThrowsError(try ConfigurationFile(environment: [:]).parse(text)) {
            XCTAssertTrue("\($0)".contains("ONESHEET_SIGNING_KEY is not set"), "\($0)")
        }
    }

    func testThatTheUnitStartsWhatThereIsAndLetsItEnd() throws {
        let unit = try settings("onesheet.service")
        let configuration = try ConfigurationFile(environment: secrets).parse(try file("onesheet.yaml"))
        XCTAssertEqual(
            try XCTUnwrap(unit["ExecStart"]).split(separator: " ").dropFirst(),
            ["serve", "--config", "/etc/onesheet/onesheet.yaml"])
        // Its user is the one that systemd-sysusers makes.
        let user = try XCTUnwrap(unit["User"])
        XCTAssertTrue(try file("onesheet.sysusers").contains("\nu \(user) "))
        // The writable folders are those of the configuration.
        XCTAssertEqual("/var/cache/" + (unit["CacheDirectory"] ?? ""), configuration.cache.disk.path)
        XCTAssertEqual(configuration.listen, .socket(path: "/run/\(unit["RuntimeDirectory"] ?? "")/onesheet.sock"))
        // systemd does not kill the server during draining.
        let patience = try XCTUnwrap(unit["TimeoutStopSec"].flatMap { Double($0.dropLast()) })
        XCTAssertGreaterThan(patience, configuration.shutdown.delay.seconds + configuration.shutdown.deadline.seconds)
        XCTAssertGreaterThan(Int(unit["LimitNOFILE"] ?? "") ?? 0, 2 * configuration.clients.connections)
    }

    func testThatTheUnitBoundsWhatTheServerMayTakeAndReach() throws {
        let unit = try settings("onesheet.service")
        let configuration = try ConfigurationFile(environment: secrets).parse(try file("onesheet.yaml"))
        // More memory than the configuration allows, but with a limit.
        let memory = try XCTUnwrap(unit["MemoryMax"].flatMap { Int($0.dropLast()) }) << 20
        XCTAssertEqual(unit["MemoryMax"]?.last, "M")
        let counted = configuration.limits.limits.memory + configuration.cache.memory.bytes.bytes
        XCTAssertGreaterThan(memory, counted + 128 << 20)
        XCTAssertLessThan(memory, 4 * counted)
        XCTAssertNotNil(unit["TasksMax"].flatMap { Int($0) })
        // No access to the metadata service of clouds and to private networks.
        let denied = Set((unit["IPAddressDeny"] ?? "").split(separator: " "))
        XCTAssertTrue(
            denied.isSuperset(of: ["link-local", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]), "\(denied)")
        XCTAssertEqual(unit["UMask"], "0077")
        // The boot id decides whether an index is trusted, and workers lower their priority.
        XCTAssertNil(unit["ProcSubset"])
        XCTAssertFalse(unit["SystemCallFilter"]?.contains("@resources") ?? false)
    }

    func testContainerHasTimeToEnd() throws {
        // Given a server without a configuration, as in the image
        let shutdown = try ConfigurationFile(environment: [:]).parse("").shutdown
        let grace = try XCTUnwrap(try file("compose.yaml").firstMatch(of: /stop_grace_period: ([0-9]+)s/).flatMap { Double($0.1) })
        XCTAssertGreaterThan(grace, shutdown.delay.seconds + shutdown.deadline.seconds)
    }

    func testThatNginxFindsTheSocketAndProtectsTheServer() throws {
        let nginx = try file("nginx.conf")
        XCTAssertTrue(nginx.contains("server unix:/run/onesheet/onesheet.sock;"))
        // The fields that identify clients, the limits in front of Onesheet, and the addresses that are not public.
        for line in [
            "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;", "proxy_set_header X-Forwarded-Proto $scheme;",
            "proxy_set_header Host $onesheet_host;", "limit_req zone=onesheet_requests ", "limit_conn onesheet_connections ",
            "server_tokens off;", "location ~ ^/(metrics|errors|cache/|prefetch|blocked/) {",
        ] {
            XCTAssertTrue(nginx.contains(line), line)
        }
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
