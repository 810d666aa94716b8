import HTTPTypes
import NIOCore
import OnesheetCore
import OnesheetHTTP
import XCTest

@testable import OnesheetServer

final class ClientIdentityTests: XCTestCase {
    private let identity = ClientIdentity(trustedProxies: [.loopback, .private])

    func testThatAClientIsFoundBehindTrustedProxiesAndNowhereElse() throws {
        let proxy = "127.0.0.1"
        let table: [(peer: String?, fields: HTTPFields, client: String?)] = [
            // Without a proxy, the fields are ignored
            ("192.0.2.9", [:], "192.0.2.9"), ("192.0.2.9", [.forwardedFor: "198.51.100.1"], "192.0.2.9"),
            ("192.0.2.9", [.forwarded: "for=198.51.100.1"], "192.0.2.9"),
            // A proxy without a valid address has many clients
            (proxy, [:], nil), (nil, [:], nil), (proxy, [.forwardedFor: "unknown"], nil), (proxy, [.forwardedFor: ","], nil),
            // The last untrusted address is the client; the client wrote the earlier ones
            (proxy, [.forwardedFor: "198.51.100.1"], "198.51.100.1"), (nil, [.forwardedFor: "198.51.100.1"], "198.51.100.1"),
            (proxy, [.forwardedFor: "203.0.113.7, 198.51.100.1"], "198.51.100.1"),
            (proxy, [.forwardedFor: "203.0.113.7,198.51.100.1 ,10.0.0.3, 127.0.0.1"], "198.51.100.1"),
            (proxy, [.forwardedFor: "10.0.0.3, 10.0.0.4"], "10.0.0.3"),
            (proxy, [.forwardedFor: "203.0.113.7, nonsense, 10.0.0.4"], "10.0.0.4"),
            // What the client wrote joins no bytes of the proxy: in Swift, U+0600 and the comma are one character
            (proxy, [.forwardedFor: "\u{600}, 198.51.100.1"], "198.51.100.1"),
            (proxy, [.forwarded: "for=\u{600},for=198.51.100.1"], "198.51.100.1"),
            // With ports, and in the syntax of RFC 7239
            (proxy, [.forwardedFor: "198.51.100.1:4711"], "198.51.100.1"),
            (proxy, [.forwardedFor: "[2001:db8::1]:4711"], "2001:db8::"),
            (proxy, [.forwarded: "for=203.0.113.7, proto=https;For=\"[2001:db8::1]:4711\";by=10.0.0.1"], "2001:db8::"),
            (proxy, [.forwarded: "for=_hidden"], nil), (proxy, [.forwarded: "by=203.0.113.7"], nil),
            (proxy, [.forwardedFor: "198.51.100.1", .forwarded: "for=203.0.113.7"], "198.51.100.1"),
        ]
        for (peer, fields, client) in table {
            let owner = identity.owner(ofRequestFrom: try peer.map(address), fields)
            XCTAssertEqual(owner, try client.map { ClientAddress(try address($0)) }, "\(peer ?? "socket") \(fields)")
        }
    }

    func testThatAnIPv6CustomerIsOneAndAnIPv4AddressIsTheSameInBothForms() throws {
        func client(_ text: String) throws -> ClientAddress { ClientAddress(try address(text)) }
        XCTAssertEqual(try client("2001:db8:1:2::1"), try client("2001:db8:1:2:ffff::9"))
        XCTAssertNotEqual(try client("2001:db8:1:2::1"), try client("2001:db8:1:3::1"))
        XCTAssertEqual(try client("::ffff:192.0.2.1"), try client("192.0.2.1"))
        XCTAssertNotEqual(try client("192.0.2.1"), try client("192.0.2.2"))
    }

    func testThatAProxysConnectionsAreNobodysShare() throws {
        XCTAssertNil(identity.owner(ofConnectionFrom: nil))
        XCTAssertNil(identity.owner(ofConnectionFrom: try address("10.1.2.3")))
        XCTAssertEqual(identity.owner(ofConnectionFrom: try address("192.0.2.1")), ClientAddress(try address("192.0.2.1")))
        XCTAssertEqual(try SocketAddress(ipAddress: "2001:db8::1", port: 1).address, try address("2001:db8::1"))
        XCTAssertNil(try SocketAddress(unixDomainSocketPath: "/tmp/s").address)
    }

    private func address(_ text: String) throws -> IPAddress { try XCTUnwrap(IPAddress(text), text) }
}
