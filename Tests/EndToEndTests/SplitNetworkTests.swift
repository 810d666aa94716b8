import Foundation
import OnesheetTesting
import Synchronization
import XCTest

/// A server between which and both engines nothing passes for a while.
final class SplitNetworkTests: ClusterTestCase {
    func testThatBothSidesServeAndNothingFromBeforeAPurgeComesBack() async throws {
        // Given two servers with two pictures, one of them behind proxies
        let (coordinator, store) = (try coordinator(), try await store(.weed))
        let wires = [try await proxy(of: coordinator.port), try await proxy(of: store.port)]
        let edition = Edition()
        let editions = [try poster(width: 60, height: 90), try poster(width: 60, height: 60)]
        let origin = try await origin { _ in editions[edition.number] }
        let here = try await member("here", origin, store: store.port, coordinator: coordinator.port)
        let there = try await member("there", origin, store: wires[1].port, coordinator: wires[0].port, deadline: "100ms")
        // The first that is asked fetches the original, and the other one finds the picture in the store.
        for (name, servers) in [("one", [there, here]), ("two", [here, there])] {
            for server in servers { try await assertSizes(of: name, origin, on: server, [[40, 60]]) }
        }
        try await untilStored([here, there])
        // When the network splits, the pictures change, and each side purges another one
        for wire in wires { wire.cut() }
        edition.next()
        try await eventually { try await purge(origin, "one", on: here).status == 200 }
        let untold = try await purge(origin, "two", on: there)
        XCTAssertEqual(untold.status, 503, untold.text)
        // Then each serves what it has, also in other sizes, and has done its own purge
        try await assertSizes(of: "one", origin, on: here, [[40, 40], [50, 50]])
        try await assertSizes(of: "two", origin, on: here, [[40, 60], [50, 75]])
        try await assertSizes(of: "one", origin, on: there, [[40, 60], [50, 75]])
        try await assertSizes(of: "two", origin, on: there, [[40, 40], [50, 50]])
        // And each makes pictures that it did not have
        try await assertSizes(of: "three", origin, on: here, [[40, 40]])
        try await assertSizes(of: "four", origin, on: there, [[40, 40]])
        // And when it is whole again, each learns of the other one's purge
        for wire in wires { wire.heal() }
        for server in [here, there] {
            for path in paths(origin) { try await eventually { try await server.ask(path).isSquare } }
        }
        try await eventually { try await there.metric("purge_outbox") == 0 }
        // And nobody serves anything from before again, nor does a server that has only the store
        try await untilStored([here, there])
        let empty = try await member("empty", origin, store: store.port, coordinator: coordinator.port)
        for server in [empty, here, there] {
            for path in paths(origin) {
                let answer = try await server.ask(path)
                XCTAssertTrue(answer.isSquare, "\(path) of \(server.url): \(answer.status), \(answer.size)")
            }
        }
    }

    /// The pictures in two sizes.
    private func paths(_ origin: OriginServer) -> [String] {
        ["one", "two", "three", "four"].flatMap { name in [40, 50].map { path(origin, name, width: $0) } }
    }

    /// Asserts the sizes of a picture that is 40 pixels wide, then 50.
    private func assertSizes(
        of name: String, _ origin: OriginServer, on server: ClusterMember, _ sizes: [[Int]], line: UInt = #line
    ) async throws {
        for (width, size) in zip([40, 50], sizes) {
            let answer = try await server.ask(path(origin, name, width: width))
            XCTAssertEqual(answer.status, 200, answer.text, line: line)
            XCTAssertEqual(answer.size, size, line: line)
        }
    }

    private func proxy(of port: Int) async throws -> TCPProxy {
        let proxy = try await TCPProxy.start(to: port)
        addTeardownBlock { try await proxy.stop() }
        return proxy
    }
}

/// The edition of the pictures at the origin.
private final class Edition: Sendable {
    private let current = Mutex(0)

    var number: Int { current.withLock { $0 } }
    func next() { current.withLock { $0 = 1 } }
}

extension ClusterMember.Answer {
    /// Whether it is a picture of the second edition.
    fileprivate var isSquare: Bool { status == 200 && size.count == 2 && size[0] == size[1] }
}
