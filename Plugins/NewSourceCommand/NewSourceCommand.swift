import Foundation
import PackagePlugin

/// `swift package new-source Name`: generates a source plugin that compiles, conforms to the rules and has one film, as a starting
/// point for a real one.
@main
struct NewSourceCommand: CommandPlugin {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    func performCommand(context: PluginContext, arguments: [String]) async throws {
        guard arguments.count == 1, let name = arguments.first, !name.hasPrefix("-") else {
            throw Failure(description: "usage: swift package new-source NAME, such as Festival for a FestivalSource")
        }
        let stem = name.hasSuffix("Source") ? String(name.dropLast(6)) : name
        guard let first = stem.utf8.first, (0x41...0x5A).contains(first), stem.utf8.allSatisfy(Self.isWordByte) else {
            throw Failure(description: "“\(name)” is not a module name: it needs a capital letter, then letters and digits")
        }
        let templates = SourceTemplates(stem: stem)
        let root = context.package.directoryURL
        let files = templates.files.map { (url: root.appendingPathComponent($0.path), text: $0.text) }
        for file in files where FileManager.default.fileExists(atPath: file.url.path) {
            throw Failure(description: "\(file.url.path) already exists")
        }
        for file in files {
            try FileManager.default.createDirectory(at: file.url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(file.text.utf8).write(to: file.url)
            print("wrote \(file.url.path.dropFirst(root.path.count + 1))")
        }
        print(templates.whatIsLeft)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
