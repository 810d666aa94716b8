import Foundation
import NIOCore
import NIOPosix
import XCTest

@testable import OnesheetServer

/// A server on a Unix socket.
final class UnixSocketTests: ServerTestCase {
    private let path = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)").path

    override func tearDownWithError() throws {
        if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
    }

    func testThatItServesLikeAnyOtherAndLeavesNothingBehind() async throws {
        // Given a server on a socket
        let server = try await server(listen: "unix:\(path)")
        let poster = "/t/p/w92/sample/1.jpg"
        // When it gets valid and invalid requests
        let first = try await server.send(poster)
        let second = try await server.send(poster)
        // Then it responds, and write permission for the file is needed to connect
        XCTAssertEqual(first.status, 200)
        XCTAssertTrue(second.field("Cache-Status")?.hasSuffix("detail=memory") ?? false)
        XCTAssertEqual(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int, 0o660)
        // And after its end the file is removed
        XCTAssertTrue(server.server.drain())
        try await server.end()
        XCTAssertFalse(FileManager.default.fileExists(atPath: path))
    }

    func testThatTheConfigurationSaysWhoMayConnect() async throws {
        _ = try await server(keys: "socketMode: 600", listen: "unix:\(path)")
        XCTAssertEqual(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int, 0o600)
    }

    func testThatWhatAKilledServerLeftIsRemoved() async throws {
        // Given a socket without a listener; renamed, because the library would remove it
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(unixDomainSocketPath: path + ".new").get()
        try FileManager.default.moveItem(atPath: path + ".new", toPath: path)
        try await channel.close()
        XCTAssertTrue(FileManager.default.fileExists(atPath: path))
        // When a server starts there
        let server = try await server(listen: "unix:\(path)")
        // Then it works
        let answer = try await server.send("/health")
        XCTAssertEqual(answer.status, 200)
    }

    func testThatAnotherFileIsNotTouched() async throws {
        // Given a regular file
        try Data("dear diary".utf8).write(to: URL(filePath: path))
        do {
            // When a server starts on it
            _ = try await server(listen: "unix:\(path)")
            XCTFail("it listens")
        } catch {
            // Then the error has a solution, and the file is unchanged
            XCTAssertTrue("\(error)".hasPrefix("\(path) exists and is not a socket"), "\(error)")
        }
        XCTAssertEqual(try String(contentsOfFile: path, encoding: .utf8), "dear diary")
    }

    func testThatALivingServerIsNotPushedAside() async throws {
        // Given a server
        let first = try await server(listen: "unix:\(path)")
        do {
            // When another one starts on its socket
            _ = try await server(listen: "unix:\(path)")
            XCTFail("it listens")
        } catch {
            // Then it fails, and the first one continues
            XCTAssertTrue("\(error)".hasPrefix("a server listens on \(path) already"), "\(error)")
        }
        let answer = try await first.send("/health")
        XCTAssertEqual(answer.status, 200)
    }

    func testThatAFolderThatIsMissingIsSaidSo() async throws {
        do {
            _ = try await server(listen: "unix:\(path)/none/s")
            XCTFail("it listens")
        } catch {
            XCTAssertEqual("\(error)", "the folder of \(path)/none/s does not exist")
        }
    }
}
