// swift-tools-version:6.2
import PackageDescription

// Fuzz targets (libFuzzer), a package of its own because everything in it is compiled to be watched: see README.md.
let watched = ["-sanitize=fuzzer,address"]
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Rooms/\(name)",
        swiftSettings: settings + [.unsafeFlags(["-sanitize=address"])])
}

func plugin(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: ["OnesheetCore", nio] + dependencies, path: "Plugins/\(name)", exclude: ["README.md"],
        swiftSettings: settings + [.unsafeFlags(["-sanitize=address"])])
}

func c(_ name: String, links libraries: [String] = []) -> Target {
    .target(
        name: name, path: "Rooms/\(name)", cSettings: [.unsafeFlags(["-O1", "-g", "-fsanitize=fuzzer-no-link,address"])],
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

func fuzz(_ name: String, _ source: String, _ rooms: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name, dependencies: ["CFuzzing", "OnesheetCore", "OnesheetImaging", "JPEGCodec", "PNGCodec", nio] + rooms,
        path: "Sources/\(source)",
        swiftSettings: settings + [.unsafeFlags(watched + ["-parse-as-library"])],
        linkerSettings: [.unsafeFlags(watched + ["-use-ld=lld"])])
}

let package = Package(
    name: "onesheet-fuzzing",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        .target(name: "CFuzzing"),
        room("OnesheetCore", [nio, log]),
        c("CImagingKernels"),
        c("CColors", links: ["lcms2"]),
        c("CJPEG", links: ["jpeg"]),
        c("CPNG", links: ["png", "deflate"]),
        room("OnesheetImaging", ["OnesheetCore", "CImagingKernels", "CColors", nio]),
        plugin("JPEGCodec", ["CJPEG"]),
        plugin("PNGCodec", ["CPNG"]),
        .target(
            name: "DrawnPosters", dependencies: ["OnesheetCore", nio], path: "Rooms/OnesheetTesting/Images",
            exclude: ["AssertImagesSimilar.swift", "DecodedPicture.swift", "PictureDifference.swift"],
            sources: ["DrawnPoster.swift", "DrawnPoster+Scene.swift", "DrawnProfile.swift"],
            swiftSettings: settings + [.unsafeFlags(["-sanitize=address"])]),
        .executableTarget(
            name: "fuzz-seeds", dependencies: ["OnesheetCore", "DrawnPosters", "JPEGCodec", "PNGCodec", nio],
            path: "Sources/FuzzSeeds", swiftSettings: settings + [.unsafeFlags(["-sanitize=address"])],
            linkerSettings: [.unsafeFlags(["-sanitize=address", "-use-ld=lld"])]),
        .target(
            name: "ImageGrammar", dependencies: ["OnesheetCore"], path: "Rooms/OnesheetServer/Dialects",
            sources: [
                "Hexadecimal.swift", "ImageOptions.swift", "OptionArguments.swift", "RequestError.swift", "Transform+Options.swift",
            ], swiftSettings: settings + [.unsafeFlags(watched)]),
        fuzz("fuzz-options", "FuzzOptions", ["ImageGrammar"]),
        fuzz("fuzz-jpeg", "FuzzJPEG"),
        fuzz("fuzz-png", "FuzzPNG"),
        fuzz("fuzz-png-paths", "FuzzPNGPaths"),
        fuzz("fuzz-png-encoding", "FuzzPNGEncoding"),
        fuzz("fuzz-render", "FuzzRender"),
    ]
)
