import Foundation
import XCTest

/// Tests run without an SDK of Apple's, so this reads what a compiler with one would import.
final class AppleImportsTests: XCTestCase {
    /// FoundationEssentials is none of them.
    private static let modulesOfApple: Set = ["CommonCrypto", "CryptoKit", "Darwin", "Foundation", "Synchronization"]

    func testClientImportsAppleModulesOnly() throws {
        // Given the products for apps
        let sources = URL(filePath: #filePath).appending(path: "../../../Sources").standardizedFileURL
        var (left, seen): ([String], Set<String>) = (["OnesheetAddress", "OnesheetClient"], [])
        // When the imports of their targets are followed
        while let target = left.popLast() {
            guard seen.insert(target).inserted else { continue }
            let folder = sources.appending(path: target)
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
                let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                for module in try Self.imports(of: text) where !Self.modulesOfApple.contains(module) {
                    // Then each is a module of Apple's or of ours
                    guard module.hasPrefix("Onesheet") else {
                        XCTFail("\(target)/\(file) imports \(module)")
                        continue
                    }
                    left.append(module)
                }
            }
        }
        XCTAssertEqual(seen, ["OnesheetAddress", "OnesheetClient", "OnesheetCrypto", "OnesheetValues"])
    }

    func testBranchesForOtherSystemsAreNotRead() throws {
        let text = """
            public import A
            #if canImport(Glibc)
                import B
                #if !canImport(Darwin)
                    import C
                #endif
            #elseif canImport(Darwin)
                internal import D
            #else
                import E
            #endif
            #if !canImport(Foundation)
                import F
            #else
                import G
            #endif
            """
        XCTAssertEqual(try Self.imports(of: text), ["A", "D", "G"])
        XCTAssertThrowsError(try Self.imports(of: "#if os(Linux)\nimport A\n#endif"))
    }

    /// The modules that a file imports on Apple's systems.
    private static func imports(of text: String) throws -> [String] {
        /// The branches around a line, each with whether it is compiled, and whether one of its `#if` was.
        var branches: [(isCompiled: Bool, wasAny: Bool)] = []
        var modules: [String] = []
        for line in text.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("#if ") {
                let isCompiled = try isTrue(line)
                branches.append((isCompiled, isCompiled))
            } else if line.hasPrefix("#else") {
                let before = try XCTUnwrap(branches.popLast())
                let isCompiled = try !before.wasAny && (line == "#else" || isTrue(line))
                branches.append((isCompiled, before.wasAny || isCompiled))
            } else if line == "#endif" {
                branches.removeLast()
            } else if branches.allSatisfy(\.isCompiled), line.prefixMatch(of: /[@\w() ]*\bimport\b/) != nil {
                guard let found = line.wholeMatch(of: /(?:@\w+ )*(?:\w+ )?import (\w+)/) else { throw UnknownLine(line: line) }
                modules.append(String(found.1))
            }
        }
        return modules
    }

    private struct UnknownLine: Error {
        let line: String
    }

    /// Whether the condition of an `#if` or `#elseif` holds there.
    private static func isTrue(_ line: String) throws -> Bool {
        guard let condition = line.wholeMatch(of: /#(?:else)?if (!?)canImport\((\w+)\)/) else { throw UnknownLine(line: line) }
        return modulesOfApple.contains(String(condition.2)) == condition.1.isEmpty
    }
}
