import ConfigurationYAML
import Foundation
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ValkeyCoordinator

final class ValkeyReadmeTests: XCTestCase {
    func testThatTheExampleIsAConfiguration() throws {
        // Given
        let parts = ValkeyReadme.text.components(separatedBy: "```yaml\n")
        let yaml = try XCTUnwrap(parts.dropFirst().first?.components(separatedBy: "```").first)

        // When
        guard case .mapping(let keys) = try ConfigurationValue(yaml: yaml), case .mapping(let shared)? = keys["shared"],
            case .mapping(var coordinator)? = shared["coordinator"]
        else { return XCTFail(yaml) }
        XCTAssertEqual(coordinator.removeValue(forKey: "type"), .scalar(ValkeyCoordinator.type))
        let configuration = try ConfigurationDecoder().decode(ValkeyCoordinator.Configuration.self, from: .mapping(coordinator))

        // Then
        XCTAssertNoThrow(try ValkeyCoordinator(configuration, context: .forTesting()))
        XCTAssertEqual(configuration.addresses.count, 3)
    }
}

enum ValkeyReadme {
    static let text: String = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Plugins/ValkeyCoordinator/README.md")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }()

    /// The rights of the user, for `ACL SETUSER`; empty if the file has none.
    static var rights: [String] {
        let command = text.components(separatedBy: "\nACL SETUSER onesheet on >PASSWORD ").dropFirst().first
        return command?.prefix { $0 != "\n" }.split(separator: " ").map(String.init) ?? []
    }
}
