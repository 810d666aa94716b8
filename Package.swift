// swift-tools-version:6.2
import PackageDescription

// Every target sees exactly what it lists: CI builds with `--explicit-target-dependency-import-check error`.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let posix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let http1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let client = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

/// One room of `Sources`.
func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// One plugin: folder = target = module. It sees the core and its own library, nothing else of ours.
func plugin(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: ["OnesheetCore", nio] + dependencies, path: "Plugins/\(name)",
        exclude: ["README.md"], swiftSettings: settings)
}

/// A small C target: kernels, or the part of a C library's interface that needs `setjmp`.
func c(_ name: String, links libraries: [String] = []) -> Target {
    .target(
        name: name, cSettings: [.unsafeFlags(["-O3"])], linkerSettings: libraries.map { .linkedLibrary($0) })
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name), "OnesheetCore", "OnesheetTesting", nio] + dependencies,
        swiftSettings: settings)
}

let package = Package(
    name: "onesheet",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "OnesheetCore", targets: ["OnesheetCore"]),
        .library(name: "OnesheetServer", targets: ["OnesheetServer"]),
        .library(name: "OnesheetTesting", targets: ["OnesheetTesting"]),
        .library(name: "StandardPlugins", targets: ["StandardPlugins"]),
        .executable(name: "onesheet", targets: ["onesheet"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        room("OnesheetCore", [nio, log]),
        c("CImagingKernels"),
        room("OnesheetImaging", ["OnesheetCore", "CImagingKernels", nio]),
        room("OnesheetCache", ["OnesheetCore", nio, grdb, crypto]),
        room("OnesheetPipeline", ["OnesheetCore", "OnesheetImaging", "OnesheetCache", nio, posix, http1, client, crypto, log]),
        room("OnesheetServer", ["OnesheetCore", "OnesheetCache", "OnesheetImaging", "OnesheetPipeline", nio, hummingbird, lifecycle, arguments, yams, log, crypto]),
        room("OnesheetTesting", ["OnesheetCore", nio, posix, http1, log]),

        c("CJPEG", links: ["jpeg"]),
        c("CPNG", links: ["png"]),
        plugin("JPEGCodec", ["CJPEG"]),
        plugin("PNGCodec", ["CPNG"]),
        plugin("BoxOfficeSource"),
        plugin("KakaoSource"),
        plugin("RemoteSource"),
        plugin("SampleSource", ["CJPEG"]),
        room(
            "StandardPlugins",
            ["OnesheetCore", "JPEGCodec", "PNGCodec", "BoxOfficeSource", "KakaoSource", "RemoteSource", "SampleSource"]),
        .executableTarget(name: "onesheet", dependencies: ["OnesheetServer", "StandardPlugins"], swiftSettings: settings),
    ]
)
