import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// The actual address of a connection decides, whatever the URL is, also without an allow-list.
final class OriginGuardTests: TransportTestCase {
    func testThatAnAddressOutsideTheNetworksIsRefusedBeforeAnythingIsSent() async throws {
        // Given an origin on loopback
        let origin = try await origin { _, _ in .answer() }
        // When a policy for public addresses only is applied
        let error = await failure(of: origin.url + "/", OriginPolicy())
        // Then no request is sent
        guard case .forbidden = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertEqual(origin.requests(), 0)
    }

    func testThatANameThatResolvesToARefusedAddressIsRefused() async throws {
        // Given a name for loopback
        let origin = try await origin { _, _ in .answer() }
        // When a policy for public addresses only is applied
        let error = await failure(of: "http://localhost:\(origin.port)/", OriginPolicy())
        // Then the connection is refused although the name looked harmless
        guard case .forbidden = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertEqual(origin.requests(), 0)
    }

    func testThatAConnectionThatOneSourceMayHaveIsNoWayInForAnother() async throws {
        // Given a source that may connect to loopback, and its open connection
        let origin = try await origin { _, _ in .answer() }
        let transport = transport()
        let url = "http://localhost:\(origin.port)/"
        let answer = try await transport.get(HTTPRequest(url: url), under: loopback)
        XCTAssertEqual(answer.status, 200)
        // When a source that may not requests the same
        let error = await Self.failure(of: url, OriginPolicy(), transport)
        // Then no request is sent, as after a change of the address (DNS rebinding)
        guard case .forbidden = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertEqual(origin.requests(), 1)
    }

    func testThatLoopbackIsRefusedHoweverItIsSpelt() async throws {
        // Given an origin on loopback
        let origin = try await origin { _, _ in .answer() }
        for host in [
            "127.0.0.1", "2130706433", "0x7f000001", "017700000001", "0177.0.0.1", "0x7f.0.0.1", "127.1", "127.0.1", "127.0.0.1.",
            "0", "0.0.0.0", "localhost", "localhost.", "LOCALHOST", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
        ] {
            // When it is requested under this name
            let error = await failure(of: "http://\(host):\(origin.port)/", OriginPolicy())
            // Then the policy refuses it; some systems cannot even resolve a name with a trailing dot
            switch error {
            case .forbidden: break
            case .failed(_, "its host has no address") where host.hasSuffix("."): break
            default: XCTFail("\(host): \(String(describing: error))")
            }
        }
        XCTAssertEqual(origin.requests(), 0)
    }

    func testThatSystemsReadThoseSpellingsAsLoopback() async throws {
        // The assumption of the table above: without the policy, these reach the origin.
        let origin = try await origin { _, _ in .answer() }
        let hosts = ["2130706433", "0177.0.0.1", "0x7f.0.0.1", "127.1", "[::ffff:127.0.0.1]"]
        let all = OriginPolicy(networks: [.loopback, .public, .private])
        for host in hosts {
            let error = await failure(of: "http://\(host):\(origin.port)/", all)
            XCTAssertNil(error, host)
        }
        XCTAssertEqual(origin.requests(), hosts.count)
    }
}
