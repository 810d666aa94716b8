// swift-tools-version:6.2
import PackageDescription

// The tests of the cache, of the pixels and of the codecs, to be run under a sanitizer: see `.ci/sanitize`. A package of its own,
// because a sanitizer compiles every dependency anew, and these tests need no HTTP server and no client. Rooms, plugins and tests
// are the same files (`Rooms`, `Plugins` and `Suites` are links).
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let posix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let http1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Rooms/\(name)", swiftSettings: settings)
}

func plugin(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: ["OnesheetCore", nio] + dependencies, path: "Plugins/\(name)", exclude: ["README.md"],
        swiftSettings: settings)
}

/// Not optimised as far as in the server: an access that was optimised away is one that nobody watches.
func c(_ name: String, links libraries: [String] = []) -> Target {
    .target(
        name: name, path: "Rooms/\(name)", cSettings: [.unsafeFlags(["-O1", "-g"])],
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name), "OnesheetCore", "OnesheetTesting", nio] + dependencies,
        path: "Suites/\(name)Tests", swiftSettings: settings)
}

let package = Package(
    name: "onesheet-sanitizing",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .target(name: "CWatchedLocks"),
        room("OnesheetCore", [nio, log]),
        c("CImagingKernels"),
        c("CColors", links: ["lcms2"]),
        c("CJPEG", links: ["jpeg"]),
        c("CPNG", links: ["png", "deflate"]),
        c("CCacheFiles", links: ["xxhash"]),
        room("OnesheetImaging", ["OnesheetCore", "CImagingKernels", "CColors", nio]),
        room("OnesheetCache", ["OnesheetCore", "CCacheFiles", nio, posix, grdb, crypto, log]),
        room("OnesheetTesting", ["OnesheetCore", nio, posix, http1, log]),
        plugin("JPEGCodec", ["CJPEG"]),
        plugin("PNGCodec", ["CPNG"]),
        .executableTarget(
            name: "CacheCrasher", dependencies: ["OnesheetCore", "OnesheetCache", "CWatchedLocks", nio],
            path: "Suites/CacheCrasher", swiftSettings: settings),
        tests("OnesheetCache", ["CacheCrasher", "CWatchedLocks", grdb, log]),
        tests("OnesheetImaging", ["JPEGCodec", "PNGCodec"]),
        tests("JPEGCodec", ["CJPEG"]),
        tests("PNGCodec", ["CPNG"]),
    ]
)
