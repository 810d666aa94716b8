import Foundation
import OnesheetAddress
import OnesheetCore
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// What `config print` prints starts the same server: for every plugin's sample configuration and every example.
final class PrintedSamplesTests: XCTestCase {
    func testThatEverySampleOfAPluginComesBack() throws {
        let plugins = PluginList.standard
        for type in plugins.sources {
            try assertComesBack("sources:\n  s:\n" + indented(type.sampleConfiguration, by: 4), type.type)
        }
        let sample = "sources: { s: { type: sample } }\n"
        for type in plugins.stores {
            try assertComesBack(sample + "shared:\n  store:\n" + indented(type.sampleConfiguration, by: 4), type.type)
        }
        for type in plugins.coordinators {
            try assertComesBack(sample + "shared:\n  coordinator:\n" + indented(type.sampleConfiguration, by: 4), type.type)
        }
        for type in plugins.codecs as [any Plugin.Type] + plugins.decoders {
            let keys = type.sampleConfiguration.split(separator: "\n").filter { !$0.hasPrefix("type:") }.joined(separator: "\n")
            guard keys.contains(":") else { continue }
            try assertComesBack(
                sample + "rendering:\n  codecs:\n    \(type.type):\n" + indented(keys, by: 6), type.type)
        }
    }

    func testThatEveryExampleComesBack() throws {
        // Given the configurations of all examples
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../examples")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            FileManager.default.fileExists(atPath: folder.appending(path: "\($0)/onesheet.yaml").path)
        }
        XCTAssertGreaterThan(names.count, 5)
        for name in names {
            try assertComesBack(
                try String(contentsOf: folder.appending(path: "\(name)/onesheet.yaml"), encoding: .utf8), name)
        }
    }

    /// Prints a configuration, and compares what is printed with it.
    private func assertComesBack(_ text: String, _ name: String) throws {
        // Given values for all of its variables that have no default
        let variables = text.matches(of: /\$\{([A-Z0-9_]+)\}/).map { String($0.1) }
        let environment = Dictionary(variables.map { ($0, "9f86d081884c7d659a2feaa0c55ad015") }, uniquingKeysWith: { $1 })
        let file = ConfigurationFile(environment: environment)
        let (configuration, unread) = try file.examine(text: text, file: nil)
        XCTAssertEqual(unread, [], name)
        // When it is printed, read and checked
        let printed = configuration.yaml
        let (again, unreadAgain) = try file.examine(text: printed, file: nil)
        // Then there are no other errors than before, and every value is the same
        XCTAssertEqual(unreadAgain, [], "\(name): \(printed)")
        XCTAssertEqual(try errors(of: again), try errors(of: configuration), name)
        XCTAssertEqual(again.yaml, printed, name)
        XCTAssertEqual(again.sourceNames, configuration.sourceNames, name)
        for source in configuration.sourceNames {
            XCTAssertEqual(own(again, source), own(configuration, source), "\(name): \(source)")
        }
        XCTAssertEqual(again.shared, configuration.shared, name)
        XCTAssertEqual(again.cache, configuration.cache, name)
        XCTAssertEqual(again.rendering.codecs, configuration.rendering.codecs, name)
        XCTAssertEqual(again.admin.token, configuration.admin.token, name)
        XCTAssertEqual(again.listen, configuration.listen, name)
        XCTAssertEqual(again.signing.keys.map(\.key), configuration.signing.keys.map(\.key), name)
        XCTAssertFalse(printed.contains(PrintedValue.hiddenText), "\(name): \(printed)")
    }

    /// The plugin's keys. The server prints its own, `limits`, in full.
    private func own(_ configuration: ServerConfiguration, _ source: String) -> ConfigurationValue? {
        configuration.sources[source]?.splitKeys.own
    }

    /// Without their places, which differ.
    private func errors(of configuration: ServerConfiguration) throws -> [String] {
        var configuration = configuration
        configuration.places = ConfigurationPlaces()
        return try ConfigurationCheck.errors(of: configuration, .standard, besides: [], logger: RunningServer.silent).map {
            "\($0)"
        }
        .sorted()
    }

    private func indented(_ text: String, by spaces: Int) -> String {
        text.split(separator: "\n").map { String(repeating: " ", count: spaces) + $0 }.joined(separator: "\n")
    }
}
