/// The files of a new source.
struct SourceTemplates {
    /// `Festival` for a `FestivalSource`.
    let stem: String

    private var module: String { "\(stem)Source" }
    private var type: String { stem.lowercased() }

    var files: [(path: String, text: String)] {
        [
            ("Plugins/\(module)/\(module).swift", code), ("Plugins/\(module)/README.md", readme),
            ("Tests/SourceTests/\(stem)/\(module)Tests.swift", tests),
        ]
    }

    /// The files of a package outside of the repository.
    /// - Parameter place: the dependency on Onesheet, as `.package` has it.
    func packageFiles(of place: String) -> [(path: String, text: String)] {
        [
            ("Package.swift", manifest(place)), ("Sources/\(module)/\(module).swift", code), ("Sources/\(server)/main.swift", main),
            ("Tests/\(module)Tests/\(module)Tests.swift", tests),
        ]
    }

    /// The program of such a package.
    var server: String { "\(type)-server" }

    /// The value of the source in a configuration.
    var settings: String { "{ type: \(type), pictures: \"https://pictures.example\" }" }

    private func manifest(_ place: String) -> String {
        """
        // swift-tools-version:6.2
        import PackageDescription

        let core = Target.Dependency.product(name: "OnesheetCore", package: "onesheet")
        let commands = Target.Dependency.product(name: "OnesheetCommands", package: "onesheet")
        let standard = Target.Dependency.product(name: "StandardPlugins", package: "onesheet")
        let testing = Target.Dependency.product(name: "OnesheetTesting", package: "onesheet")

        let package = Package(
            name: "\(server)",
            platforms: [.macOS(.v26)],
            dependencies: [.package(\(place))],
            targets: [
                .target(name: "\(module)", dependencies: [core]),
                .executableTarget(name: "\(server)", dependencies: ["\(module)", core, commands, standard]),
                .testTarget(name: "\(module)Tests", dependencies: ["\(module)", core, testing]),
            ]
        )

        """
    }

    private var main: String {
        """
        import OnesheetCommands
        import OnesheetCore
        import StandardPlugins
        import \(module)

        // Onesheet's own main with one more source.
        var plugins = PluginList.standard
        plugins.sources.append(\(module).self)
        Onesheet.main(plugins)

        """
    }

    var whatIsLeft: String {
        """

        Two files name every plugin; add to them:
          Package.swift, among the targets:
            plugin("\(module)"),
          Package.swift, among the dependencies of StandardPlugins and of SourceTests: "\(module)"
          Sources/StandardPlugins/StandardPlugins.swift:
            import \(module)
            … sources: [\(module).self, …]
        Then:
          swift test --filter \(module)Tests
          swift run onesheet sources sample \(type)
        """
    }

    private var code: String {
        """
        public import OnesheetCore

        /// The titles of this source, and their origin.
        public struct \(module): SourcePlugin {
            /// The configuration.
            public struct Configuration: Decodable, Sendable {
                /// The base URL of pictures.
                public var pictures: String

                public init(pictures: String) { self.pictures = pictures }
            }

            public static let type = "\(type)"

            public static let sampleConfiguration = \"\"\"
                type: \(type)
                # The base URL of pictures.
                pictures: https://pictures.example
                \"\"\"

            public let originPolicy: OriginPolicy
            private let pictures: String
            private let films = [Title(id: "1", name: "The First Film")]

            /// - Throws: `ConfigurationError` where `pictures` is not a URL.
            public init(_ configuration: Configuration, context: PluginContext) throws {
                guard let prefix = URLPrefix(configuration.pictures) else {
                    throw ConfigurationError(path: "pictures", message: "“\\(configuration.pictures)” is not a URL")
                }
                pictures = configuration.pictures
                originPolicy = OriginPolicy(allow: [prefix])
            }

            public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
                guard query.date == nil else { throw .unsupported("lists by day") }
                return TitlePage(titles: query.page == 1 ? films : [], total: films.count)
            }

            public func title(_ id: String) async throws(SourceError) -> Title {
                guard let film = films.first(where: { $0.id == id }) else { throw .notFound(id: id) }
                return film
            }

            public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
                let film = try await title(id)
                return [PosterCandidate(.http(url: "\\(pictures)/\\(PercentEncoding.encode(film.id)).jpg"))]
            }
        }

        """
    }

    private var readme: String {
        """
        # \(module)

        What it knows, who needs it, where the facts come from.

        ```yaml
        sources:
          \(type): \(settings)
        ```

        ```
        onesheet sources titles \(type)
        curl localhost:8080/t/p/w342/\(type)/1.jpg
        ```

        | key | means |
        |---|---|
        | `pictures` | where pictures are |

        """
    }

    private var tests: String {
        """
        import OnesheetCore
        import OnesheetTesting
        import XCTest

        import \(module)

        final class \(module)Tests: XCTestCase {
            private static func source(_ transport: any HTTPTransport = FakeTransport()) throws -> \(module) {
                let value = ConfigurationValue.mapping(["pictures": .scalar("https://pictures.example")])
                let configuration = try ConfigurationDecoder().decode(\(module).Configuration.self, from: value)
                return try \(module)(configuration, context: .forTesting(transport: transport))
            }

            func testThatAFilmHasAPicture() async throws {
                // Given
                let source = try Self.source()

                // When
                let candidates = try await source.candidates(for: "1")

                // Then
                XCTAssertEqual(candidates.map(\\.location.name), ["https://pictures.example/1.jpg"])
            }

            func testThatAnAddressThatIsNoneIsRefused() {
                // Given
                let configuration = \(module).Configuration(pictures: "somewhere")

                // When
                let make = { try \(module)(configuration, context: .forTesting()) }

                // Then
                XCTAssertThrowsError(try make()) { XCTAssertEqual("\\($0)", "pictures: “somewhere” is not a URL") }
            }

            func testThatItConforms() async throws {
                // Given
                let suite = SourceConformance(transport: FakeTransport(), knownID: "1", unknownID: "2", list: TitleQuery()) {
                    try Self.source($0)
                }

                // When
                let report = await suite.run()

                // Then
                XCTAssertTrue(report.failures.isEmpty, report.description)
            }
        }

        """
    }
}
