import Logging
import NIOCore
import NIOPosix
import NIOSSL
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// A test with origins on loopback and the real client, both of which are closed afterwards.
class TransportTestCase: XCTestCase {
    let loopback = OriginPolicy(networks: [.loopback])

    func origin(_ answer: @escaping @Sendable (String, [String: String]) -> OriginAnswer) async throws -> OriginServer {
        let origin = try await OriginServer.start(answer)
        // A test may have closed it already.
        addTeardownBlock { try? await origin.stop() }
        return origin
    }

    func transport(
        _ limits: Limits = Limits(), names: [String: [[String]]]? = nil, memory: MemoryBudget = MemoryBudget(limit: 512 << 20),
        clock: WallClock = .system, trust: TLSConfiguration = .makeClientConfiguration(), grace: TimeAmount = .seconds(10),
        patience: Duration = .seconds(2), attempts: Int = 3, isForOperator: Bool = false
    ) -> WebTransport {
        let transport = WebTransport(
            limits: limits, memory: memory, group: NIOSingletons.posixEventLoopGroup,
            retry: Retry(attempts: attempts, sleep: { _ in }), clock: clock,
            resolver: names.map { SystemResolver.table($0) }, trust: trust, grace: grace, patience: patience,
            isForOperator: isForOperator, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        addTeardownBlock { try await transport.shutdown() }
        return transport
    }

    func failure(of url: String, _ policy: OriginPolicy) async -> HTTPTransportError? {
        await Self.failure(of: url, policy, transport())
    }

    static func failure(of url: String, _ policy: OriginPolicy, _ transport: WebTransport) async -> HTTPTransportError? {
        do throws(HTTPTransportError) {
            _ = try await transport.get(HTTPRequest(url: url), under: policy)
            return nil
        } catch {
            return error
        }
    }
}
