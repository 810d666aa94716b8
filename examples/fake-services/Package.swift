// swift-tools-version:6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "fake-services",
    platforms: [.macOS(.v26)],
    products: [
        .library(name: "FakeServices", targets: ["FakeServices"]),
        .executable(name: "fake-services", targets: ["fake-services"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        .systemLibrary(name: "CTurboJPEG"),
        .target(
            name: "FakeServices",
            dependencies: [
                "CTurboJPEG",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            // Optimised in debug builds too, because it paints pictures pixel by pixel.
            swiftSettings: settings + [.unsafeFlags(["-O"])]),
        .executableTarget(
            name: "fake-services",
            dependencies: ["FakeServices", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            swiftSettings: settings),
    ]
)
