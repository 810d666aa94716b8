import Dispatch
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

final class SystemResolverTests: XCTestCase {
    private let clock = ManualClock()
    private let address = IPAddress(bytes: [192, 0, 2, 1])

    func testThatTheSystemKnowsThisMachine() async throws {
        let addresses = try await SystemResolver().addresses(of: "localhost")
        XCTAssertTrue(addresses.contains { $0.scope == .loopback }, "\(addresses)")
        XCTAssertTrue(addresses.allSatisfy { $0.scope == .loopback }, "\(addresses)")
    }

    func testThatANameIsLookedUpOnceInAWhile() async throws {
        // Given a name that was resolved
        let names = Names([address])
        let resolver = SystemResolver(clock: clock.wallClock) { names.find($0) }
        // When it is resolved again within half a minute, and after it
        for seconds in [0, 29, 1] {
            clock.advance(by: .seconds(seconds))
            let addresses = try await resolver.addresses(of: "films.example")
            XCTAssertEqual(addresses, [address])
        }
        // Then there were two lookups
        XCTAssertEqual(names.count, 2)
    }

    func testWaitForAThreadIsNotTheNamesTime() async throws {
        // Given lookups that end one after the other, on all threads for new names, and one that waits behind them
        let (gate, names) = (DispatchSemaphore(value: 0), Names([address]))
        let resolver = SystemResolver(limit: .seconds(1), clock: clock.wallClock) { name in
            if name.hasPrefix("slow") { gate.wait() }
            return names.find(name)
        }
        defer { for _ in 0..<20 { gate.signal() } }
        let slow = (0..<9).map { number in Task { try await resolver.addresses(of: "slow\(number).example") } }
        await waitWhile(resolver.lookUpsUnderWay < 9)
        let waiting = Task {
            do throws(ResolveError) {
                _ = try await resolver.addresses(of: "films.example")
                return nil as ResolveError?
            } catch {
                return error
            }
        }
        await waitWhile(resolver.lookUpsUnderWay < 10)
        // When one of them ends, and another one takes its thread
        gate.signal()
        await waitWhile(resolver.lookUpsUnderWay > 9)
        // Then the one behind them fails for our lack of threads, and not for its name
        let error = await waiting.value
        XCTAssertEqual(error, .busy)
        for task in slow { task.cancel() }
    }

    func testThatANameThatHangsHoldsNothingElse() async throws {
        // Given a known name, and far more hanging names than threads
        let (names, gate, address) = (Names([address]), DispatchSemaphore(value: 0), address)
        let resolver = SystemResolver(limit: .milliseconds(50), clock: clock.wallClock) { name in
            if name.hasPrefix("hangs") {
                gate.wait()
                return nil
            }
            return names.find(name)
        }
        defer { for _ in 0..<300 { gate.signal() } }
        _ = try await resolver.addresses(of: "films.example")
        clock.advance(by: .seconds(60))
        await withTaskGroup(of: ResolveError?.self) { group in
            for number in 0..<300 {
                group.addTask {
                    do throws(ResolveError) {
                        _ = try await resolver.addresses(of: "hangs\(number).example")
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            // Then each times out, and those that would wait too long for a thread fail immediately
            var errors: [ResolveError: Int] = [:]
            for await error in group { if let error { errors[error, default: 0] += 1 } }
            XCTAssertEqual(errors[.timedOut], 256)
            XCTAssertEqual(errors[.busy], 44)
        }
        _ = address
    }

    func testThatAKnownNameIsLookedUpBesideNamesThatHang() async throws {
        // Given a name that was resolved a minute ago, and names that hold all threads for new ones
        let (names, gate) = (Names([address]), DispatchSemaphore(value: 0))
        let resolver = SystemResolver(limit: .milliseconds(50), clock: clock.wallClock) { name in
            if name.hasPrefix("hangs") {
                gate.wait()
                return nil
            }
            return names.find(name)
        }
        defer { for _ in 0..<20 { gate.signal() } }
        _ = try await resolver.addresses(of: "films.example")
        clock.advance(by: .seconds(60))
        for number in 0..<10 { _ = try? await resolver.addresses(of: "hangs\(number).example") }
        // When it is resolved
        let addresses = try await resolver.addresses(of: "films.example")
        // Then it is resolved anyway
        XCTAssertEqual(addresses, [address])
        XCTAssertEqual(names.count, 2)
    }

    func testThatAKnownNameOutlivesItsNameServer() async throws {
        // Given a resolved name, and a name server that fails since
        let names = Names([address])
        let resolver = SystemResolver(clock: clock.wallClock) { names.find($0) }
        _ = try await resolver.addresses(of: "films.example")
        names.addresses = nil
        // When it is resolved within the hour, and after it
        clock.advance(by: .seconds(3000))
        let addresses = try await resolver.addresses(of: "films.example")
        clock.advance(by: .seconds(3000))
        // Then the known addresses are used for the hour
        XCTAssertEqual(addresses, [address])
        await assertUnknown(resolver)
        // And a name that has lost its address has none
        names.addresses = [address]
        _ = try await resolver.addresses(of: "films.example")
        names.addresses = []
        clock.advance(by: .seconds(31))
        await assertUnknown(resolver)
    }

    private func assertUnknown(_ resolver: SystemResolver, line: UInt = #line) async {
        do throws(ResolveError) {
            let addresses = try await resolver.addresses(of: "films.example")
            XCTFail("\(addresses)", line: line)
        } catch {
            XCTAssertEqual(error, .unknown, line: line)
        }
    }
}

/// One answer for all names, and the number of its uses.
private final class Names: Sendable {
    private let state: Mutex<(addresses: [IPAddress]?, count: Int)>

    init(_ addresses: [IPAddress]?) { state = Mutex((addresses, 0)) }

    var addresses: [IPAddress]? {
        get { state.withLock { $0.addresses } }
        set { state.withLock { $0.addresses = newValue } }
    }

    var count: Int { state.withLock { $0.count } }

    func find(_ name: String) -> [IPAddress]? {
        state.withLock { state in
            state.count += 1
            return state.addresses
        }
    }
}
