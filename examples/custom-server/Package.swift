// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let core = Target.Dependency.product(name: "OnesheetCore", package: "onesheet")
let commands = Target.Dependency.product(name: "OnesheetCommands", package: "onesheet")
let testing = Target.Dependency.product(name: "OnesheetTesting", package: "onesheet")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let standard = Target.Dependency.product(name: "StandardPlugins", package: "onesheet")

let package = Package(
    name: "custom-server",
    platforms: [.macOS(.v26)],
    // In a separate repository: .package(url: "https://…/onesheet", branch: "main")
    dependencies: [
        .package(name: "onesheet", path: "../.."), .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .target(name: "ProgrammeSource", dependencies: [core], swiftSettings: settings),
        .target(name: "SharedFolderTier", dependencies: [core, nio], swiftSettings: settings),
        .executableTarget(
            name: "custom-server", dependencies: ["ProgrammeSource", "SharedFolderTier", core, commands, standard],
            swiftSettings: settings),
        .testTarget(name: "SharedFolderTierTests", dependencies: ["SharedFolderTier", core, testing], swiftSettings: settings),
        .testTarget(
            name: "ProgrammeSourceTests", dependencies: ["ProgrammeSource", core, testing, standard], swiftSettings: settings),
    ]
)
