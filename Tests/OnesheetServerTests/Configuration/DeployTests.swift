import Foundation
import OnesheetCore
import OnesheetTesting
import StandardPlugins
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
        let ends = ["compose.yaml", "jellyfin/compose.yaml", "helm/templates/statefulset.yaml"]
        for name in ends {
            let found = try file(name).firstMatch(of: /(?:stop_grace_period|terminationGracePeriodSeconds): ([0-9]+)/)
            let grace = try XCTUnwrap(found.flatMap { Double($0.1) })
            // The chart waits five seconds before.
            XCTAssertGreaterThan(grace, 5 + shutdown.delay.seconds + shutdown.deadline.seconds, name)
        }
    }

    func testThatNginxFindsTheSocketAndProtectsTheServer() throws {
        let nginx = try file("nginx.conf")
        XCTAssertTrue(nginx.contains("server unix:/run/onesheet/onesheet.sock;"))
        // The fields that identify clients, and the limits in front of Onesheet.
        for line in [
            "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;", "proxy_set_header X-Forwarded-Proto $scheme;",
            "proxy_set_header Host $onesheet_host;", "limit_req zone=onesheet_requests ", "limit_conn onesheet_connections ",
            "server_tokens off;",
        ] {
            XCTAssertTrue(nginx.contains(line), line)
        }
    }

    func testNginxDeniesTheListedRoutes() throws {
        // Given the table of what is public, whose first cells have addresses, and the location that is closed
        let rows = try file("../../docs/going-live.md").split(separator: "\n").filter { $0.hasPrefix("| `/") }
        let cells = rows.map { $0.split(separator: " | ") }
        func addresses(_ cell: Substring) -> [String] { cell.matches(of: /`(\/[^`]*)`/).map { String($0.1) } }
        let denied = cells.filter { $0.last?.contains("deny them in the proxy") ?? false }.flatMap { addresses($0[0]) }
        XCTAssertGreaterThan(denied.count, 10)
        let place = try XCTUnwrap(try file("nginx.conf").firstMatch(of: /location ~ (\S+) \{\s+allow 127\.0\.0\.1;/)?.1)
        let closed = try Regex(String(place))
        // When each route is requested, with its examples
        let routes = try RouteExamples.paths("1", number: 1)
        // Routes of dialects at the root have names that no path has.
        for (route, examples) in routes where !route.hasPrefix("/{") {
            // The administrator's routes take both spellings.
            let other = route.hasSuffix("/") ? String(route.dropLast()) : route + "/"
            let isTaken = ["/cache/", "/blocked/", "/errors", "/prefetch"].contains(route)
            for path in examples + [route] + (isTaken ? [other] : []) {
                // Then it is closed if the table says so
                let isClosed = path.prefix { $0 != "?" }.firstMatch(of: closed) != nil
                XCTAssertEqual(isClosed, denied.contains(route), path)
            }
            // And the table has it, but for dialects
            let dialects = PluginList.standard.dialects.flatMap { [$0.prefix] + $0.otherPrefixes }
            let known = cells.flatMap { addresses($0[0]) }.map { $0.prefix { !"{…".contains($0) } }
            XCTAssertTrue(dialects.contains(route) || route == "/favicon.ico" || known.contains { $0 == route }, route)
        }
        XCTAssertEqual(denied.filter { routes[$0] == nil }, [])
    }

    func testConfigurationsOfTheExamplesAreProtected() throws {
        let environment = secrets.merging([
            "ONESHEET_LISTEN": "0.0.0.0:8080", "TMDB_TOKEN": "t",
            "ONESHEET_ADMIN_TOKEN": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        ]) { $1 }
        for name in ["cloud-run", "jellyfin"] {
            let (configuration, errors) = try ConfigurationFile(environment: environment.merging(["JELLYFIN_KEY": "k"]) { $1 })
                .examine(text: try file("\(name)/onesheet.yaml"), file: "onesheet.yaml")
            let found = try ConfigurationCheck.errors(of: configuration, .standard, besides: errors, logger: RunningServer.silent)
            XCTAssertEqual(found.map { "\($0)" }, [], name)
            try configuration.requireProtection()
        }
    }

    func testJellyfinsProxyHasTheRuleOfItsPage() throws {
        let page = try file("../../docs/media-servers.md")
        let proxy = try file("jellyfin/nginx.conf")
        let rule = try XCTUnwrap(page.firstMatch(of: /```nginx\n(location [^`]+?)\n\}/)?.1)
        let lines = rule.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            !$0.hasPrefix("proxy_pass")
        }
        XCTAssertEqual(lines.count, 4)
        for line in lines { XCTAssertTrue(proxy.contains(line), line) }
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
