import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The requests that may wait at once, shared fairly by address.
final class FairLimitTests: ServerTestCase {
    func testThatBusyAddressesGetEqualSharesAndLeaveOneFree() throws {
        // Given room for 64 requests
        let limit = FairLimit(64)
        let addresses = try (1...3).map { ClientAddress(try XCTUnwrap(IPAddress("192.0.2.\($0)"))) }
        var counts = [0, 0, 0]
        // When three addresses take as many as they can, in turns
        for _ in 0..<100 {
            for index in counts.indices where limit.begin(addresses[index]) { counts[index] += 1 }
        }
        // Then each has a quarter
        XCTAssertEqual(counts, [16, 16, 16])
        // And another address can begin
        XCTAssertTrue(limit.begin(ClientAddress(try XCTUnwrap(IPAddress("192.0.2.9")))))
        // And requests of an unknown address get the rest
        XCTAssertEqual((0..<100).count { _ in limit.begin(nil) }, 15)
        // When an address ends its requests, then others get them
        for _ in 0..<16 { limit.end(addresses[0]) }
        XCTAssertTrue(limit.begin(addresses[0]))
        XCTAssertTrue(limit.begin(nil))
    }

    func testThatAnAddressMayHaveTwoWhileManyAddressesAreBusy() throws {
        // Given room for 64, of which 60 addresses have taken 62: one each, and two of them a second
        let limit = FairLimit(64)
        let addresses = try (1...60).map { ClientAddress(try XCTUnwrap(IPAddress("192.0.2.\($0)"))) }
        for address in addresses { XCTAssertTrue(limit.begin(address)) }
        for address in addresses.prefix(2) { XCTAssertTrue(limit.begin(address)) }
        XCTAssertFalse(limit.begin(addresses[0]))
        // When another address begins two, then both are counted
        let other = ClientAddress(try XCTUnwrap(IPAddress("198.51.100.1")))
        XCTAssertTrue(limit.begin(other))
        XCTAssertTrue(limit.begin(other))
        // And no more than there are
        XCTAssertFalse(limit.begin(addresses[2]))
        XCTAssertFalse(limit.begin(nil))
    }

    func testThatTooManyWaitingRequestsAreRefusedAndHitsServed() async throws {
        // Given a server with room for 64 waiting requests, an origin that does not answer, and a poster in memory
        let origin = try await origin { _, _ in .silence }
        let certificate = try SelfSigned(in: folder())
        let server = try await server(
            sources: web(origin) + "\nsample: { type: sample }",
            keys: certificate.yaml + "\nlimits: { memory: 32MiB, originBytes: 1MiB }\nclients: { perAddress: { misses: 0 } }")
        try await RawHTTP2.with(server.url, certificate) { client in
            try await client.get("/t/p/w92/sample/1.jpg", on: 1)
            _ = await client.next { $0.type == RawHTTP2.Kind.headers }
            // When a client requests 70 pictures of the origin
            for index in 1...70 { try await client.get("/i/unsafe/plain/\(origin.url)/\(index)@jpg", on: 2 * index + 1) }
            // Then six are refused
            for _ in 0..<6 {
                let refusal = await client.next { $0.type == RawHTTP2.Kind.headers }
                XCTAssertFalse(try XCTUnwrap(refusal).isOK)
            }
            // And the poster is served
            try await client.get("/t/p/w92/sample/1.jpg", on: 201)
            let answer = await client.next { $0.type == RawHTTP2.Kind.headers }
            XCTAssertEqual(answer?.stream, 201)
            XCTAssertTrue(answer?.isOK ?? false)
        }
    }
}
