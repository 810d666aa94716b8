import ConfigurationYAML
import Foundation
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ValkeyStore

final class ValkeyReadmeTests: XCTestCase {
    private let text: String = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Plugins/ValkeyStore/README.md")
        return (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    }()

    func testThatTheExampleIsAConfiguration() throws {
        // Given
        let parts = text.components(separatedBy: "```yaml\n")
        let yaml = try XCTUnwrap(parts.dropFirst().first?.components(separatedBy: "```").first)

        // When
        guard case .mapping(let keys) = try ConfigurationValue(yaml: yaml), case .mapping(let shared)? = keys["shared"],
            case .mapping(var coordinator)? = shared["coordinator"]
        else { return XCTFail(yaml) }
        XCTAssertEqual(coordinator.removeValue(forKey: "type"), .scalar(ValkeyStore.type))
        let configuration = try ConfigurationDecoder().decode(ValkeyStore.Configuration.self, from: .mapping(coordinator))

        // Then
        XCTAssertNoThrow(try ValkeyStore(configuration, context: .forTesting()))
        XCTAssertEqual(configuration.addresses.count, 3)
    }

    func testThatItHasAllRights() {
        XCTAssertTrue(text.contains("\(ValkeyStore.rights)\n"))
    }
}
