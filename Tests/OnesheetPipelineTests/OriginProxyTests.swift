import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// Requests that leave through a proxy. `Tests/Clients/outbound.py` has real proxies, with tunnels.
final class OriginProxyTests: TransportTestCase {
    func testRequestsGoToTheProxyWhichLooksUpTheName() async throws {
        // Given a proxy that wants a user
        let proxy = try await origin { target, fields in
            .answer(
                status: target == "http://films.example:80/a?b=1" && fields["proxy-authorization"] == "Basic bWU6cGEgc3M="
                    ? 200 : 407)
        }
        let policy = OriginPolicy(proxy: try self.proxy("http://me:pa%20ss@127.0.0.1:\(proxy.port)"))
        // When a host is asked whose name this machine does not know
        let transport = transport(names: [:])
        for _ in 0..<2 {
            let answer = try await transport.get(HTTPRequest(url: "http://films.example/a?b=1"), under: policy)
            // Then the proxy answers
            XCTAssertEqual(answer.status, 200)
        }
        XCTAssertEqual(proxy.requests(), 2)
    }

    func testLocalAddressesAreChecked() async throws {
        // Given
        let proxy = try await origin { _, _ in .answer() }
        let policy = OriginPolicy(proxy: try self.proxy("http://127.0.0.1:\(proxy.port)"))
        let names = [
            "printer": "10.0.0.9", "localhost": "127.0.0.1", "db.internal": "10.0.0.8", "127.1": "127.0.0.1", "a.0x7f": "127.0.0.1",
        ]
        let transport = transport(names: names.mapValues { [[$0]] })
        for host in ["127.0.0.1", "[::1]", "10.0.0.1"] + names.keys {
            // When
            let error = await Self.failure(of: "http://\(host)/", policy, transport)
            // Then
            guard case .forbidden = error else { return XCTFail("\(host): \(String(describing: error))") }
        }
        // And a source for another network has all its names checked
        let inside = OriginPolicy(networks: [.private], proxy: policy.proxy)
        let error = await Self.failure(
            of: "http://films.example/", inside, self.transport(names: ["films.example": [["203.0.114.1"]]]))
        guard case .forbidden = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertEqual(proxy.requests(), 0)
    }

    func testFailureOfAProxyNamesItAndIsNotThatOfTheHost() async throws {
        // Given a proxy that refuses tunnels, one that speaks no SOCKS, and one that is gone
        let proxy = try await origin { _, _ in .answer(status: 403) }
        let gone = try await origin { _, _ in .answer() }
        try await gone.stop()
        for (place, url) in [
            ("http://127.0.0.1:\(proxy.port)", "https://films.example/"),
            ("socks5://127.0.0.1:\(proxy.port)", "http://films.example/"),
            ("http://127.0.0.1:\(gone.port)", "http://films.example/"),
            ("socks5://127.0.0.1:\(gone.port)", "https://films.example/"),
        ] {
            let transport = transport(names: [:], attempts: 2)
            for _ in 0..<8 {
                // When
                let error = await Self.failure(of: url, OriginPolicy(proxy: try self.proxy(place)), transport)
                // Then
                guard case .failed(_, let reason) = error else { return XCTFail("\(place): \(String(describing: error))") }
                XCTAssertTrue(reason.contains("the proxy \(place) "), reason)
            }
            XCTAssertEqual(transport.troubledHosts, 0, place)
        }
    }

    func testStrangersLearnNothingFromAProxy() async throws {
        let proxy = try await origin { _, _ in .answer(status: 403) }
        let allow = try XCTUnwrap(URLPrefix("https://*.example/"))
        let policy = OriginPolicy(allow: [allow], proxy: try self.proxy("http://127.0.0.1:\(proxy.port)"))
        let error = await Self.failure(of: "https://films.example/", policy, transport(names: [:], attempts: 1))
        XCTAssertEqual(
            error, .failed(url: "https://films.example/", reason: "the proxy of its source does not lead to its host"))
    }

    func testURLsOfProxies() throws {
        XCTAssertEqual("\(try proxy("http://me:secret@proxy.example:3128/"))", "http://proxy.example:3128")
        XCTAssertEqual("\(try proxy("socks5://[::1]:1080"))", "socks5://[::1]:1080")
        for text in [
            "proxy.example:3128", "https://proxy.example:3128", "socks5h://a.example:1080", "http://proxy.example",
            "http://a.example:1/x",
            "http://a.example:1?x", "http://me@a.example:1", "socks5://me:secret@a.example:1080", "http://:1", "",
        ] {
            XCTAssertNil(OriginProxy(text), text)
        }
    }

    private func proxy(_ text: String) throws -> OriginProxy { try XCTUnwrap(OriginProxy(text)) }
}
