internal import CConsoleAssets
package import FoundationEssentials
internal import OnesheetCore
internal import OnesheetCrypto

/// A file of the console: script, style sheet, picture or template.
package struct ConsoleAsset: Sendable {
    package let name: String
    package let bytes: Data

    /// The `Content-Type`.
    package var mediaType: String {
        switch name.split(separator: ".").last {
        case "css": "text/css; charset=utf-8"
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    /// All built-in files by name.
    package static let all: [String: ConsoleAsset] = {
        var assets: [String: ConsoleAsset] = [:]
        var index = 0
        while let name = cconsole_asset(index).name {
            let file = cconsole_asset(index)
            var bytes = Data(UnsafeBufferPointer(start: file.bytes, count: file.count))
            if let place = bytes.firstRange(of: Data("[/* sizes */]".utf8)) {
                bytes.replaceSubrange(place, with: Data("\(ImageKind.poster.sizes.map(\.width))".utf8))
            }
            let asset = ConsoleAsset(name: String(cString: name), bytes: bytes)
            assets[asset.name] = asset
            index += 1
        }
        return assets
    }()

    /// A hash of all files. As a part of their addresses it lets clients cache them permanently, and keeps a module and its imports
    /// at one version.
    package static let fingerprint: String = {
        var hash = SHA256()
        for asset in all.values.sorted(by: { $0.name < $1.name }) {
            hash.update("\(asset.name) \(asset.bytes.count)\n".utf8)
            hash.update(asset.bytes)
        }
        return hash.finalize().prefix(8).hexadecimal
    }()

    /// The path prefix of the files.
    package static let folder = "/console/\(fingerprint)/"
}
