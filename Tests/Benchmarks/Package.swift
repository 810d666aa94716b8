// swift-tools-version:6.2
import PackageDescription

// A package of its own, so that nobody builds it who only wants the server. It compiles the rooms that it measures from the same
// files (`Rooms` and `Plugins` are links), because what it measures is not public.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let posix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
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

func c(_ name: String, links libraries: [String] = []) -> Target {
    .target(
        name: name, path: "Rooms/\(name)", cSettings: [.unsafeFlags(["-O3"])],
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

let package = Package(
    name: "onesheet-benchmarks",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        room("OnesheetCore", [nio, log]),
        c("CImagingKernels"),
        c("CColors", links: ["lcms2"]),
        c("CJPEG", links: ["jpeg"]),
        c("CPNG", links: ["png", "deflate"]),
        room("OnesheetImaging", ["OnesheetCore", "CImagingKernels", "CColors", nio]),
        plugin("JPEGCodec", ["CJPEG"]),
        plugin("PNGCodec", ["CPNG"]),
        c("CCacheFiles", links: ["xxhash"]),
        room("OnesheetCache", ["OnesheetCore", "CCacheFiles", nio, posix, grdb, crypto, log]),
        .executableTarget(
            name: "cache-bench", dependencies: ["OnesheetCore", "OnesheetCache", nio], path: "Sources/CacheBench",
            swiftSettings: settings),
        .executableTarget(
            name: "imaging-bench", dependencies: ["OnesheetCore", "OnesheetImaging", "JPEGCodec", "PNGCodec", "DrawnPosters", nio],
            path: "Sources/ImagingBench", swiftSettings: settings),
        .target(
            name: "DrawnPosters", dependencies: ["OnesheetCore", nio], path: "Rooms/OnesheetTesting/Images",
            exclude: ["AssertImagesSimilar.swift", "DecodedPicture.swift", "PictureDifference.swift", "DrawnProfile.swift"],
            sources: ["DrawnPoster.swift", "DrawnPoster+Scene.swift"], swiftSettings: settings),
    ]
)
