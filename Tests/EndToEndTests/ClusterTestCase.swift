import Foundation
import JPEGCodec
import NIOCore
import OnesheetTesting
import XCTest

/// A test with real servers that share real engines. Each server is a process with a cache folder of its own.
class ClusterTestCase: CommandTestCase {
    /// A Redis without contents.
    func coordinator() throws -> CoordinatorEngine {
        let engine = try CoordinatorEngine(.redis)
        addTeardownBlock {
            engine.kill()
            engine.folder.remove()
        }
        try engine.start()
        return engine
    }

    /// A store without objects.
    func store(_ kind: StoreEngine.Kind) async throws -> StoreEngine {
        let engine = try await StoreEngine.start(kind)
        addTeardownBlock { engine.stop() }
        return engine
    }

    func origin(_ answer: @escaping @Sendable (String) -> OriginAnswer) async throws -> OriginServer {
        let origin = try await OriginServer.start { target, _ in answer(target) }
        addTeardownBlock { try await origin.stop() }
        return origin
    }

    /// Starts a server, or starts it again. It is killed after the test.
    /// - Parameters:
    ///   - name: names its cache folder.
    ///   - store: the port of the store.
    ///   - coordinator: the port of the coordinator.
    ///   - deadline: the deadline of the store, which a server without it waits for.
    func member(
        _ name: String, _ origin: OriginServer, store: Int, coordinator: Int, deadline: String = "5s"
    ) async throws -> ClusterMember {
        let configuration = """
            admin: { token: secret-for-tests }
            clients: { perAddress: { misses: 0 } }
            limits: { originTimeout: 1h, originIdleTimeout: 1h }
            sources: { web: { type: remote, allow: ["\(origin.url)/"], networks: [loopback] } }
            shared:
              store:
                type: s3
                endpoint: "http://127.0.0.1:\(store)"
                bucket: \(StoreEngine.bucket)
                accessKey: \(StoreEngine.accessKey)
                secretKey: \(StoreEngine.secretKey)
                deadline: \(deadline)
              coordinator: { type: valkey, addresses: ["127.0.0.1:\(coordinator)"], deadline: 250ms }
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "\(name).yaml"))
        let (process, url, log) = try await Program.serveWithLog(["--config", "\(name).yaml", "--cache", name], in: folder)
        let member = ClusterMember(process: process, url: url, log: log)
        addTeardownBlock { member.kill() }
        return member
    }

    /// The path of a variant of a picture at the origin.
    func path(_ origin: OriginServer, _ name: String, width: Int) -> String {
        "/i/unsafe/w:\(width)/plain/\(origin.url)/\(name)@png"
    }

    /// Purges a title on one server.
    func purge(_ origin: OriginServer, _ name: String, on member: ClusterMember) async throws -> ClusterMember.Answer {
        let id = try XCTUnwrap("\(origin.url)/\(name)".addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        return try await member.ask("/cache/web/\(id)", method: "DELETE", isAdministrator: true)
    }

    /// Waits until what the servers have made is in the store.
    func untilStored(_ members: [ClusterMember]) async throws {
        for member in members { try await eventually { try await member.metric("shared_queue") == 0 } }
    }

    /// Fails unless `condition`, which asks a process, holds within two minutes.
    func eventually(_ condition: () async throws -> Bool, file: StaticString = #filePath, line: UInt = #line) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while try await !condition() {
            guard ContinuousClock.now < end else { return XCTFail("this does not hold after two minutes", file: file, line: line) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// The answer of an origin with a poster of this size.
    func poster(width: Int, height: Int) throws -> OriginAnswer {
        let body = try DrawnPoster(width: width, height: height).file(JPEGCodec())
        return .answer(type: "image/jpeg", body: ByteBuffer(bytes: body))
    }
}
