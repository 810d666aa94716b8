// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "client",
    platforms: [.macOS(.v15)],
    // In a separate repository: .package(url: "https://…/onesheet", branch: "main")
    dependencies: [.package(name: "onesheet", path: "../..")],
    targets: [
        .executableTarget(
            name: "poster-addresses", dependencies: [.product(name: "OnesheetClient", package: "onesheet")],
            swiftSettings: settings)
    ]
)
