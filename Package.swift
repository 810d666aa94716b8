// swift-tools-version:6.2
import PackageDescription

// Every target sees exactly what it lists: CI builds with `--explicit-target-dependency-import-check error`.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// SwiftPM refuses the flags of the optimiser in a dependency.
let isCheckout = Context.packageDirectory.contains("/checkouts/")

/// Builds that are not the server's, by the environment variable ONESHEET_BUILD. Each adds targets at the end of this file.
enum Build: String {
    /// The benchmarks of `Tests/Benchmarks`; `make bench-peers` uses them.
    case benchmarks
    /// The fuzzer of `Tests/Fuzzing`; `make fuzz` uses it, and adds `--sanitize=address`.
    case fuzzing
    /// Only the decoders behind traits that are off by default, and their tests; `make nightly` uses it.
    case formats
    /// Tests under ThreadSanitizer; `make sanitize` uses it, and adds `--sanitize=thread`.
    case thread
    /// Tests under AddressSanitizer; `make sanitize` uses it, and adds `--sanitize=address`.
    case address
}

let build = Context.environment["ONESHEET_BUILD"].map { name in
    guard let build = Build(rawValue: name) else { fatalError("ONESHEET_BUILD: unknown build “\(name)”") }
    return build
}

/// The settings where pixels are made or compared: debug builds are optimised there, or tests would take minutes.
let quickSettings: [SwiftSetting] =
    switch build {
    case nil, .benchmarks, .formats: settings + (isCheckout ? [] : [.unsafeFlags(["-O"])])
    case .fuzzing, .thread, .address: settings
    }

// An access that is optimised away is one that no sanitizer sees.
let cSettings: [CSetting] =
    switch build {
    case nil, .benchmarks, .formats: isCheckout ? [] : [.unsafeFlags(["-O3"])]
    // Undefined behaviour ends the process, without a runtime of its own.
    case .fuzzing: [.unsafeFlags(["-O1", "-g", "-fsanitize=fuzzer-no-link,undefined", "-fsanitize-trap=undefined"])]
    case .address: [.unsafeFlags(["-O1", "-g", "-fsanitize=undefined", "-fsanitize-trap=undefined"])]
    case .thread: [.unsafeFlags(["-O1", "-g"])]
    }

let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let posix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let embedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let http1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let nioExtras = Target.Dependency.product(name: "NIOExtras", package: "swift-nio-extras")
let nioSOCKS = Target.Dependency.product(name: "NIOSOCKS", package: "swift-nio-extras")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioHTTPTypesHTTP1 = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioHTTPTypesHTTP2 = Target.Dependency.product(name: "NIOHTTPTypesHTTP2", package: "swift-nio-extras")
let foundationCompat = Target.Dependency.product(name: "NIOFoundationEssentialsCompat", package: "swift-nio")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let client = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let metricsTesting = Target.Dependency.product(name: "MetricsTestKit", package: "swift-metrics")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let tracingTesting = Target.Dependency.product(name: "InMemoryTracing", package: "swift-distributed-tracing")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let http2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let hpack = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let tls = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let ssl = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

/// A package in exactly this version, so that what is built is what was tested. A package that depends on Onesheet chooses for itself,
/// from this version on: two that name one version each could not be used together.
func pinned(_ url: String, _ version: Version) -> Package.Dependency {
    isCheckout ? .package(url: url, from: version) : .package(url: url, exact: version)
}

/// A target of `Sources`.
func target(_ name: String, _ dependencies: [Target.Dependency], isQuick: Bool = false) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: isQuick ? quickSettings : settings)
}

/// One plugin: folder = target = module. It sees the core and its own library, nothing else of ours.
func plugin(
    _ name: String, _ dependencies: [Target.Dependency] = [], isQuick: Bool = false, exclude further: [String] = []
) -> Target {
    .target(
        name: name, dependencies: ["OnesheetCore", nio] + dependencies, path: "Plugins/\(name)",
        exclude: ["README.md"] + further, swiftSettings: isQuick ? quickSettings : settings)
}

/// A small C target: kernels, or the part of a C library's interface that needs `setjmp`.
func c(_ name: String, _ dependencies: [Target.Dependency] = [], links libraries: [String] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, cSettings: cSettings, linkerSettings: libraries.map { .linkedLibrary($0) })
}

func tests(_ name: String, _ dependencies: [Target.Dependency], isQuick: Bool = false) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name), "OnesheetCore", "OnesheetTesting", nio] + dependencies,
        swiftSettings: isQuick ? quickSettings : settings)
}

let package = Package(
    name: "onesheet",
    // Of OnesheetAddress and OnesheetClient. The server is for Linux.
    platforms: [.iOS(.v18), .macOS(.v15), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .library(name: "OnesheetAddress", targets: ["OnesheetAddress"]),
        .library(name: "OnesheetClient", targets: ["OnesheetClient"]),
        .library(name: "OnesheetCommands", targets: ["OnesheetCommands"]),
        .library(name: "OnesheetCore", targets: ["OnesheetCore"]),
        .library(name: "OnesheetTesting", targets: ["OnesheetTesting"]),
        .library(name: "StandardPlugins", targets: ["StandardPlugins"]),
        .executable(name: "onesheet", targets: ["onesheet"]),
    ],
    // On by default, because Debian has their libraries. Their targets are empty without them.
    traits: [
        .default(enabledTraits: ["WebP", "AVIF", "GIF"]),
        .trait(name: "WebP", description: "Reads and writes WebP (libwebp)."),
        .trait(name: "AVIF", description: "Reads and writes AVIF (libavif)."),
        .trait(name: "GIF", description: "Reads GIF (giflib)."),
        // Off by default: few posters are such files, and their libraries are many.
        .trait(name: "TIFF", description: "Reads TIFF (libtiff)."),
        .trait(name: "HEIC", description: "Reads HEIC (libheif, libde265)."),
        .trait(name: "JXL", description: "Reads JPEG XL (libjxl)."),
    ],
    dependencies: [
        pinned("https://github.com/apple/swift-argument-parser", "1.8.2"),
        pinned("https://github.com/apple/swift-distributed-tracing", "1.7.3"),
        pinned("https://github.com/apple/swift-http-types", "1.8.0"),
        pinned("https://github.com/apple/swift-log", "1.16.2"),
        pinned("https://github.com/apple/swift-metrics", "2.13.0"),
        pinned("https://github.com/apple/swift-nio", "2.101.2"),
        pinned("https://github.com/apple/swift-nio-extras", "1.35.2"),
        pinned("https://github.com/apple/swift-nio-http2.git", "1.46.0"),
        pinned("https://github.com/apple/swift-nio-ssl", "2.37.6"),
        pinned("https://github.com/apple/swift-system", "1.8.1"),
        pinned("https://github.com/groue/GRDB.swift", "7.10.0"),
        pinned("https://github.com/hummingbird-project/hummingbird", "2.28.1"),
        pinned("https://github.com/jpsim/Yams", "6.2.2"),
        pinned("https://github.com/swift-server/async-http-client", "1.37.0"),
        pinned("https://github.com/swift-server/swift-service-lifecycle", "2.13.0"),
        pinned("https://github.com/swiftlang/swift-subprocess", "1.0.2"),
    ],
    targets: [
        // Libraries of the system: a module each, of which a target links only what it imports.
        .systemLibrary(name: "CSystemLibraries"),
        // System calls that Swift cannot make, or not safely.
        c("CLinux", links: ["xxhash"]),
        target("OnesheetValues", [], isQuick: true),
        target("OnesheetCore", ["OnesheetValues", "CLinux", nio, posix, log]),
        // Apple's platforms have CryptoKit.
        target("OnesheetCrypto", [.target(name: "CSystemLibraries", condition: .when(platforms: [.linux]))]),
        target("OnesheetAddress", ["OnesheetValues", "OnesheetCrypto"]),
        target("OnesheetClient", ["OnesheetAddress", "OnesheetValues"]),
        target("OnesheetTransport", ["OnesheetCore", nio, posix, http1, ssl, nioExtras, nioSOCKS, foundationCompat, tracing]),
        target("OnesheetHTTP", ["OnesheetCore", nio, httpTypes]),
        c("CImaging", links: ["lcms2"]),
        target("OnesheetImaging", ["OnesheetCore", "CImaging", nio], isQuick: true),
        target("OnesheetCache", ["OnesheetCore", "OnesheetCrypto", "CLinux", nio, posix, grdb, log]),
        target(
            "OnesheetPipeline",
            [
                "OnesheetCore", "OnesheetHTTP", "OnesheetImaging", "OnesheetCache", "OnesheetTransport",
                "CSystemLibraries",
                nio, posix, http1,
                ssl, log, tracing,
            ]),
        target(
            "OnesheetCluster",
            ["OnesheetCore", "OnesheetCache", "OnesheetImaging", "OnesheetPipeline", nio, log]),
        c("CConsoleAssets"),
        .target(
            name: "OnesheetConsole", dependencies: ["CConsoleAssets", "OnesheetCore", "OnesheetCrypto"], exclude: ["Assets"],
            swiftSettings: settings),
        target("OnesheetIsolation", ["OnesheetCore", "OnesheetCrypto", "OnesheetImaging", "CLinux", nio, posix, log]),
        target(
            "OnesheetServer",
            [
                "CLinux", "CSystemLibraries", "OnesheetAddress", "OnesheetCore", "OnesheetCrypto", "OnesheetHTTP",
                "OnesheetCache", "OnesheetCluster", "OnesheetConsole",
                "OnesheetImaging",
                "OnesheetIsolation", "OnesheetPipeline", "OnesheetTransport", nio, posix, httpTypes,
                foundationCompat, metrics, tracing,
                hummingbirdCore, tls, ssl, nioHTTPTypes, nioHTTPTypesHTTP1, nioHTTPTypesHTTP2, http1, http2, hpack,
                lifecycle, yams, log,
            ]),
        target(
            "OnesheetCommands",
            [
                "OnesheetAddress", "OnesheetCore", "OnesheetCache", "OnesheetCluster", "OnesheetImaging", "OnesheetIsolation",
                "OnesheetPipeline", "OnesheetServer", nio, foundationCompat, lifecycle, signals, arguments, log,
            ]),
        target("OnesheetTesting", ["OnesheetCore", nio, posix, http1, log], isQuick: true),

        c("CJPEG", links: ["jpeg"]),
        c("CPNG", links: ["png", "deflate", "isal"]),
        plugin("JPEGCodec", ["CJPEG"], isQuick: true),
        plugin("PNGCodec", ["CPNG"], isQuick: true),
        plugin("WebPCodec", ["CSystemLibraries"]),
        plugin("AVIFCodec", ["CSystemLibraries"]),
        plugin("GIFCodec", ["CSystemLibraries"]),
        plugin("TIFFCodec", ["CSystemLibraries"]),
        plugin("HEICCodec", ["CSystemLibraries"]),
        plugin("JPEGXLCodec", ["CSystemLibraries"]),
        plugin("BoxOfficeSource", exclude: ["Kakao/README.md"]),
        plugin("ExecSource", ["CLinux", subprocess, systemPackage, log]),
        plugin("FirstSource"),
        plugin("FolderSource", [log]),
        plugin("FolderStore", [posix]),
        .plugin(
            name: "NewSourceCommand",
            capability: .command(
                intent: .custom(verb: "new-source", description: "Writes a new source plugin with its README and tests."),
                permissions: [.writeToPackageDirectory(reason: "It writes the plugin's files.")]),
            path: "Plugins/NewSourceCommand", exclude: ["README.md"]),
        plugin("RemoteSource"),
        .target(
            name: "Dialects", dependencies: ["OnesheetCore", "OnesheetAddress", "OnesheetCrypto"], path: "Plugins/Dialects",
            exclude: ["MediaServers", "RPDB", "TMDB"].map { "\($0)/README.md" },
            swiftSettings: settings),
        plugin("RestSource", [log, yams]),
        plugin("S3Store", ["OnesheetCrypto", "OnesheetTransport", posix, http1], exclude: ["Source/README.md"]),
        plugin("ValkeyCoordinator", ["OnesheetCrypto", posix, ssl]),
        .target(name: "CSamplePosters", exclude: ["Posters"], cSettings: cSettings),
        plugin("SampleSource", ["CSamplePosters"]),
        target(
            "StandardPlugins",
            [
                "OnesheetCore", "JPEGCodec", "PNGCodec", "BoxOfficeSource", "ExecSource", "FirstSource", "FolderSource",
                "FolderStore", "RemoteSource", "RestSource", "S3Store", "SampleSource", "Dialects", "ValkeyCoordinator",
                .target(name: "AVIFCodec", condition: .when(traits: ["AVIF"])),
                .target(name: "GIFCodec", condition: .when(traits: ["GIF"])),
                .target(name: "HEICCodec", condition: .when(traits: ["HEIC"])),
                .target(name: "JPEGXLCodec", condition: .when(traits: ["JXL"])),
                .target(name: "TIFFCodec", condition: .when(traits: ["TIFF"])),
                .target(name: "WebPCodec", condition: .when(traits: ["WebP"])),
            ]),
        .executableTarget(name: "onesheet", dependencies: ["OnesheetCommands", "StandardPlugins"], swiftSettings: settings),

        .testTarget(
            name: "CodecTests",
            dependencies: [
                "AVIFCodec", "CJPEG", "CPNG", "GIFCodec", "JPEGCodec", "OnesheetCore", "OnesheetTesting", "PNGCodec", "WebPCodec",
                nio,
            ], swiftSettings: quickSettings),
        .target(
            name: "FormatFixtures", dependencies: ["CSystemLibraries", "OnesheetCore"], path: "Tests/FormatFixtures",
            swiftSettings: settings),
        .testTarget(
            name: "FormatTests",
            dependencies: ["FormatFixtures", "HEICCodec", "JPEGXLCodec", "OnesheetCore", "OnesheetTesting", "TIFFCodec", nio],
            swiftSettings: settings),
        .testTarget(
            name: "OnesheetCoreTests", dependencies: ["OnesheetCore", "OnesheetTesting", nio, yams], swiftSettings: settings),
        .executableTarget(
            name: "Crasher", dependencies: ["FolderStore", "OnesheetCache", "OnesheetCore", "OnesheetTesting", nio],
            path: "Tests/Crasher", swiftSettings: settings),
        .testTarget(
            name: "OnesheetCacheTests",
            dependencies: ["OnesheetCache", "OnesheetCore", "OnesheetTesting", "Crasher", nio, grdb, log],
            swiftSettings: settings),
        .testTarget(
            name: "OnesheetValuesTests", dependencies: ["OnesheetCrypto", "OnesheetValues"], swiftSettings: settings),
        .testTarget(
            name: "OnesheetAddressTests",
            dependencies: ["Dialects", "OnesheetAddress", "OnesheetCore", "OnesheetTesting", "OnesheetValues", nio],
            swiftSettings: settings),
        .testTarget(
            name: "OnesheetClientTests",
            dependencies: [
                "JPEGCodec", "OnesheetClient", "OnesheetCore", "OnesheetServer", "OnesheetTesting", "StandardPlugins", nio, log,
            ], swiftSettings: settings),
        tests("OnesheetHTTP", ["OnesheetTransport", httpTypes, posix, http1, tracing]),
        .target(
            name: "ConfigurationYAML", dependencies: ["OnesheetCore", yams], path: "Tests/ConfigurationYAML",
            swiftSettings: settings),
        .testTarget(
            name: "SourceTests",
            dependencies: [
                "BoxOfficeSource", "ConfigurationYAML", "ExecSource", "FirstSource", "FolderSource", "OnesheetCore",
                "OnesheetTesting",
                "RemoteSource", "RestSource", "SampleSource", nio,
            ], swiftSettings: settings),
        .testTarget(
            name: "StoreTests",
            dependencies: [
                "ConfigurationYAML", "FolderStore", "OnesheetCore", "OnesheetTesting", "S3Store", "Crasher",
                "ValkeyCoordinator", nio, posix, ssl, log,
            ], swiftSettings: settings),
        tests(
            "OnesheetImaging", ["AVIFCodec", "CImaging", "GIFCodec", "JPEGCodec", "PNGCodec", "WebPCodec"], isQuick: true),
        tests(
            "OnesheetPipeline",
            [
                "OnesheetTransport", "OnesheetImaging", "OnesheetCache", "FirstSource", "JPEGCodec", "PNGCodec", "CSystemLibraries",
                http1,
                posix, ssl, log,
            ]),
        tests("OnesheetCluster", ["OnesheetCache", "OnesheetImaging", "OnesheetPipeline", log]),
        tests("OnesheetCommands", ["OnesheetCache", "OnesheetPipeline", arguments, signals]),
        tests(
            "OnesheetServer",
            [
                "CLinux", "OnesheetCommands",
                "OnesheetAddress", "OnesheetConsole", "OnesheetHTTP", "OnesheetImaging", "OnesheetCache", "OnesheetCluster",
                "OnesheetPipeline", "StandardPlugins", metrics, metricsTesting, tracing, tracingTesting,
                "JPEGCodec", "PNGCodec", "SampleSource", client, http1,
                embedded, posix, ssl,
                httpTypes, log,
            ]),
        .target(name: "CHostile", path: "Tests/CHostile"),
        .executableTarget(
            name: "HostileServer", dependencies: ["CHostile", "OnesheetCommands", "OnesheetCore", "StandardPlugins"],
            path: "Tests/HostileServer", swiftSettings: settings),
        tests("OnesheetIsolation", ["OnesheetImaging", "JPEGCodec", log]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "HostileServer", "onesheet", "JPEGCodec", "OnesheetClient", "OnesheetCore", "OnesheetCrypto", "OnesheetTesting",
                "S3Store",
                client,
                http1,
                nio,
            ],
            swiftSettings: settings),
    ]
)

switch build {
case nil, .address: break
case .benchmarks:
    package.targets += [
        .executableTarget(
            name: "cache-bench", dependencies: ["OnesheetCore", "OnesheetCache", nio], path: "Tests/Benchmarks/CacheBench",
            swiftSettings: settings),
        .executableTarget(
            name: "imaging-bench",
            dependencies: [
                "OnesheetCore", "OnesheetImaging", "OnesheetIsolation", "OnesheetTesting", "AVIFCodec", "JPEGCodec", "PNGCodec",
                "WebPCodec",
                nio, log,
            ],
            path: "Tests/Benchmarks/ImagingBench", swiftSettings: settings),
    ]
case .formats:
    let formats = ["HEICCodec", "JPEGXLCodec", "TIFFCodec"]
    let kept =
        ["CLinux", "CSystemLibraries", "FormatFixtures", "FormatTests", "OnesheetCore", "OnesheetTesting", "OnesheetValues"]
        + formats
    package.products = []
    package.targets.removeAll { !kept.contains($0.name) }
case .fuzzing:
    package.targets += [
        .target(name: "CFuzzing", dependencies: ["CJPEG"], path: "Tests/Fuzzing/CFuzzing"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CFuzzing", "FormatFixtures", "OnesheetAddress", "OnesheetCore", "OnesheetImaging", "OnesheetTesting", "AVIFCodec",
                "GIFCodec", "HEICCodec", "JPEGCodec", "JPEGXLCodec", "PNGCodec", "S3Store", "TIFFCodec", "ValkeyCoordinator",
                "WebPCodec",
                nio,
            ],
            path: "Tests/Fuzzing/Fuzz",
            swiftSettings: settings + [.unsafeFlags(["-sanitize=fuzzer,address", "-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
    ]
case .thread:
    package.targets.append(.target(name: "CWatchedLocks", path: "Tests/Sanitizing/CWatchedLocks"))
    for target in package.targets where target.isTest || target.name == "Crasher" {
        target.dependencies.append("CWatchedLocks")
    }
}

/// The environment variable ONESHEET_TESTS leaves only these modules of tests, for `.ci/check`, so that no other is built and linked.
if let names = Context.environment["ONESHEET_TESTS"]?.split(separator: " ").map(String.init), !names.isEmpty {
    package.targets.removeAll { $0.isTest && !names.contains($0.name) }
}
