import Foundation
import XCTest

/// Every command according to its help.
final class CommandTests: CommandTestCase {
    func testThatEveryCommandHasHelp() async throws {
        let commands = [
            [], ["serve"], ["prefetch"], ["bundle"], ["render"], ["sources"], ["sources", "list"], ["sources", "sample"],
            ["sources", "check"],
            ["sources", "titles"], ["sources", "posters"], ["sources", "pin"], ["sources", "unpin"], ["sources", "reject"],
            ["sources", "block"], ["cache"], ["cache", "stats"], ["cache", "verify"], ["cache", "purge"], ["sign"], ["explain"],
            ["config"],
            ["config", "check"], ["config", "print"],
        ]
        for command in commands {
            // When its help is requested
            let outcome = try await run(command + ["--help"])
            // Then it prints help and succeeds
            XCTAssertEqual(outcome.status, 0, "\(command)")
            XCTAssertTrue(outcome.text.contains("USAGE: onesheet"), "\(command)")
            XCTAssertTrue(outcome.text.contains("OVERVIEW:"), "\(command)")
        }
    }

    func testThatAnAddressIsExplained() async throws {
        // Given an address that was never asked for
        let address = "http://127.0.0.1:8080/t/p/w92/sample/1.jpg"
        let before = try await run(["explain", address])
        // When it is made, and explained to a person and to a program
        let made = try await run(["explain", address, "--fetch"])
        let after = try await run(["explain", address, "--json"])
        // Then each says what it is, whether the cache has it, and what a purge would remove
        XCTAssertTrue(before.text.contains("sample://1") && before.text.contains("no tier has it"), before.text + before.errors)
        XCTAssertTrue(
            made.text.contains("fresh in") && made.text.contains("render") && made.text.contains("would remove"), made.text)
        let document = try XCTUnwrap(try JSONSerialization.jsonObject(with: after.output) as? [String: Any])
        XCTAssertEqual((document["stored"] as? [String: Any])?["tier"] as? String, "disk", after.text)
        XCTAssertEqual(document["canonical"] as? String, "/t/p/w92/sample/1.jpg")
        // And what is no image's address is a failure
        let wrong = try await run(["explain", "/nowhere"])
        XCTAssertEqual(wrong.status, 1)
        XCTAssertTrue(wrong.errors.contains("/nowhere"), wrong.errors)
    }

    func testThatNothingFromOutsideControlsTheTerminal() async throws {
        // Given arguments with terminal controls and line ends, one of them hidden in base64url
        let hostile = "\u{1B}[31m\u{9B}2J\r\nforged\u{202E}"
        let hidden = Data("sample://1\(hostile)".utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        let commands = [
            ["explain", "/i/unsafe/w:92/\(hidden).jpg"], ["explain", "/i/unsafe/w:92/\(hidden).jpg", "--json"],
            ["explain", hostile], [hostile], ["cache", hostile], ["prefetch", "sample", "--date", hostile], ["serve", hostile],
            ["prefetch", "sample", "--id", hostile], ["sources", "titles", hostile], ["sources", "check", hostile],
            ["sources", "posters", "sample", hostile], ["cache", "purge", "--source", "sample", "--id", hostile],
            ["render", hostile, "-o", "a.png"], ["config", "check", "--config", hostile],
        ]
        for command in commands {
            // When a command prints them
            let outcome = try await run(command)
            // Then they are escaped, and forge no line
            let printed = outcome.text + outcome.errors
            XCTAssertFalse(printed.unicodeScalars.contains { ["\u{1B}", "\u{9B}", "\r", "\u{202E}"].contains($0) }, "\(command)")
            XCTAssertFalse(printed.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("forged") }, "\(command): \(printed)")
        }
    }

    func testThatAMistakeInTheArgumentsIsUsage() async throws {
        for arguments in [
            ["serv"], ["serve", "--listen", "here"], ["bundle", "sample"], ["config", "check", "--record", "a", "--replay", "b"],
            ["prefetch"], ["prefetch", "sample", "--date", "never"], ["render", "in.jpg"],
            ["cache", "purge"], ["cache", "purge", "--all", "--expired"], ["cache", "purge", "--tag", ""],
            ["cache", "purge", "--source", "sample", "--id", ""], ["sources", "block", "x"],
            ["prefetch", "sample", "--from", "2026-01-02"],
        ] {
            let outcome = try await run(arguments)
            XCTAssertEqual(outcome.status, 64, "\(arguments)")
            XCTAssertFalse(outcome.errors.isEmpty, "\(arguments)")
            XCTAssertEqual(outcome.text, "", "\(arguments)")
        }
    }

    func testThatTitlesAreNamedInOneWay() async throws {
        let range = ["--from", "2026-01-01", "--to", "2026-01-02"]
        let table: [([String], String)] = [
            (["prefetch", "--date", "2026-01-01"] + range, "--date and --from with --to cannot be combined"),
            (["prefetch", "--id", "1", "--query", "x"] + range, "--from with --to, --id and --query cannot be combined"),
            (["bundle", "-o", "a.tar", "--date", "2026-01-01"] + range, "--date and --from with --to cannot be combined"),
            (["bundle", "-o", "a.tar", "--to", "2026-01-01"], "use --from and --to together"),
        ]
        for (arguments, words) in table {
            let outcome = try await run(arguments + ["sample"])
            XCTAssertEqual(outcome.status, 64, "\(arguments)")
            XCTAssertTrue(outcome.errors.contains(words), "\(arguments): \(outcome.errors)")
        }
    }

    func testThatAMistypedCommandNamesTheNearestOne() async throws {
        for (arguments, words) in [
            (["serv"], "onesheet: unknown command “serv”; did you mean “serve”?\n"),
            (["cache", "stat"], "onesheet: unknown command “stat”; did you mean “stats”?\n"),
            (["config", "chekc", "--config", "a"], "onesheet: unknown command “chekc”; did you mean “check”?\n"),
        ] {
            let outcome = try await run(arguments)
            XCTAssertEqual(outcome.status, 64, "\(arguments)")
            XCTAssertEqual(outcome.errors, words, "\(arguments)")
        }
    }

    func testThatAFailureIsOneLineOnStandardError() async throws {
        try Data("lisen: 1\nsources: { a: { type: sample } }\n".utf8).write(to: folder.appending(path: "bad.yaml"))
        let table = [
            (["config", "check", "--config", "bad.yaml"], "bad.yaml:1:1: unknown key “lisen”; did you mean “listen”?\n"),
            (
                ["config", "check", "--config", "none.yaml"],
                "onesheet: cannot read the configuration none.yaml: the file does not exist\n"
            ),
            (["render", "none.jpg", "-o", "out.png"], "onesheet: cannot read none.jpg: the file does not exist\n"),
            (["prefetch", "nobody"], "onesheet: unknown source “nobody”; known: sample\n"),
            (["prefetch", "sample", "--sizes", "w9999"], "onesheet: unknown size “w9999”"),
            (["sources", "sample", "nothing"], "onesheet: type: unknown source type “nothing”"),
            (["sources", "check", "nobody"], "onesheet: unknown source “nobody”; known: sample\n"),
            (["sign", "w:1/plain/sample://1"], "onesheet: signing.keys: there is no signing key"),
            (["sign", "--encrypt", "w:1/plain/sample://1"], "onesheet: signing.encryptionKey: there is no key"),
        ]
        for (arguments, message) in table {
            // When a command fails
            let outcome = try await run(arguments)
            // Then it prints the reason in one line and exits with 1
            XCTAssertEqual(outcome.status, 1, "\(arguments)")
            XCTAssertTrue(outcome.errors.hasPrefix(message), "\(arguments): \(outcome.errors)")
            XCTAssertEqual(outcome.errors.filter { $0 == "\n" }.count, 1, outcome.errors)
        }
    }

    func testThatPrefetchFillsTheCacheAndTheServerAnswersFromIt() async throws {
        // Given a prefetch of two titles in two sizes
        let first = try await run(["prefetch", "sample", "--id", "1", "--id", "2", "--sizes", "w92,w154", "--cache", "c", "--json"])
        XCTAssertEqual(first.status, 0, first.errors)
        XCTAssertEqual(try summary(first), ["total": 4, "made": 4, "skipped": 0])
        // When it runs again
        let second = try await run([
            "prefetch", "sample", "--id", "1", "--id", "2", "--sizes", "w92,w154", "--cache", "c", "--json",
        ])
        // Then every variant already exists
        XCTAssertEqual(try summary(second), ["total": 4, "made": 0, "skipped": 4])
        // And a server serves the prefetched variants
        let (server, url) = try await Program.serve(["--cache", "c"], in: folder)
        defer { Program.end(server) }
        let answer = try await WebAnswer.to(url + "/t/p/w154/sample/2.jpg")
        XCTAssertTrue(answer.field("Cache-Status")?.hasPrefix("onesheet; hit") ?? false)
    }

    func testThatShellsCompleteTheNamesOfFilesAndFolders() async throws {
        // Given the script for zsh
        let script = try await run(["--generate-completion-script", "zsh"]).text
        let lines = script.split(separator: "\n").map(String.init)
        for (start, kind) in [
            ("'--config[", ":_files'"), ("'--cache[", ":_files -/'"), ("'--record[", ":_files -/'"), ("'--replay[", ":_files -/'"),
            ("'(--output -o)'{--output,-o}'[The image", ":_files'"), ("'(--output -o)'{--output,-o}'[The archive", ":_files'"),
            ("':input:", "_files'"),
        ] {
            // When the lines of an option are looked for
            let found = lines.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix(start) }
            // Then each completes files or folders
            XCTAssertFalse(found.isEmpty, start)
            for line in found { XCTAssertTrue(line.hasSuffix(kind), String(line)) }
        }
    }

    func testThatProgressIsPlainLinesWhereThereIsNoTerminal() async throws {
        let outcome = try await run(["prefetch", "sample", "--id", "1", "--id", "nobody", "--sizes", "w92", "--cache", "c"])
        XCTAssertEqual(outcome.status, 1)
        XCTAssertFalse(outcome.errors.contains("\r"))
        XCTAssertTrue(outcome.errors.contains("failed: sample://nobody: "), outcome.errors)
        XCTAssertTrue(outcome.errors.contains("2 titles, 2 images: 1 made"), outcome.errors)
    }

    func testThatRenderMakesAFileOfAnotherFormatAndSize() async throws {
        // Given a poster
        let original = try await poster()
        try original.write(to: folder.appending(path: "in.jpg"))
        // When it is rendered to a file, and through standard input and output
        let toFile = try await run(["render", "in.jpg", "-o", "out.png", "--options", "rs:fit:100:0"])
        let toStream = try await Program.run(
            ["render", "-", "-o", "-", "--options", "rs:fit:100:0/f:png"], input: original, in: folder)
        // Then both are the same PNG
        let png = try Data(contentsOf: folder.appending(path: "out.png"))
        XCTAssertEqual(toFile.status, 0, toFile.errors)
        XCTAssertEqual(png.prefix(8), Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        XCTAssertEqual(Array(png[16..<24]), [0, 0, 0, 100, 0, 0, 0, 150])
        XCTAssertEqual(toStream.output, png)
    }

    func testThatAllErrorsOfAConfigurationAreToldAtOnce() async throws {
        // Given a configuration with two errors and no source
        let text = "limits: { workers: 0 }\npresets: { card: \"w:wide\" }\nsources: {}\n"
        try Data(text.utf8).write(to: folder.appending(path: "bad.yaml"))
        // When it is checked, then each has its line, also what is not there
        let check = try await run(["config", "check", "--config", "bad.yaml"])
        XCTAssertEqual(check.status, 1)
        let lines = check.errors.split(separator: "\n").map(String.init)
        XCTAssertEqual(lines.count, 4, check.errors)
        XCTAssertEqual(lines.first, "bad.yaml:1:20: limits.workers: needs at least 1")
        XCTAssertTrue(lines.dropFirst().first?.hasPrefix("bad.yaml:2:18: presets.card: ") ?? false, check.errors)
        XCTAssertEqual(Array(lines.suffix(2)), ["bad.yaml:3:10: sources: needs at least one source", "onesheet: 3 errors"])
        // And a server names the first
        let serve = try await run(["serve", "--config", "bad.yaml"])
        XCTAssertEqual(serve.status, 1)
        XCTAssertEqual(
            serve.errors,
            "onesheet: bad.yaml:1:20: limits.workers: needs at least 1; `onesheet config check` lists all errors\n")
    }

    func testThatAllBackendsThatCannotBeUsedAreListed() async throws {
        // Given a store without its folder, and a coordinator that is not running
        let text = """
            shared:
              store: { type: folder, path: missing }
              coordinator: { type: valkey, addresses: ["127.0.0.1:1"] }
            sources: { sample: { type: sample } }
            """
        try Data(text.utf8).write(to: folder.appending(path: "bad.yaml"))
        // When the configuration is checked, then both have their lines
        let check = try await run(["config", "check", "--config", "bad.yaml", "--cache", "c"])
        XCTAssertEqual(check.status, 1)
        let lines = check.errors.split(separator: "\n").map(String.init)
        XCTAssertEqual(lines.count, 3, check.errors)
        XCTAssertTrue(lines.first?.hasPrefix("bad.yaml:2:10: shared.store: ") ?? false, check.errors)
        XCTAssertTrue(lines.dropFirst().first?.hasPrefix("bad.yaml:3:16: shared.coordinator: ") ?? false, check.errors)
        XCTAssertEqual(lines.last, "onesheet: 2 errors")
    }

    func testThatACutOffOrNoConfigurationIsHandled() async throws {
        let good = try await run(["config", "check", "--cache", "c"])
        XCTAssertEqual(good.text, "The configuration is valid: sources sample\n")
        XCTAssertTrue(good.errors.hasPrefix("Warning: “unsafe” is accepted in place of a signature"), good.errors)
        let printed = try await run(["config", "print"])
        XCTAssertTrue(printed.text.hasPrefix("listen: 127.0.0.1:8080\n"))
    }

    func testThatTheVersionIsTheNewestOfTheChangelog() async throws {
        // Given the newest version in the change log
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../CHANGELOG.md")
        let changes = try String(contentsOf: file, encoding: .utf8)
        let newest = try XCTUnwrap(changes.firstMatch(of: /\n## ([0-9]+\.[0-9]+\.[0-9]+)/).map { String($0.1) })
        // When the program prints its version
        let outcome = try await run(["--version"])
        // Then both are equal
        XCTAssertEqual(outcome.text, newest + "\n")
        XCTAssertEqual(outcome.status, 0)
    }

    func testThatEverySourceTypeHasASample() async throws {
        for type in ["sample", "boxoffice", "kakao", "remote"] {
            let outcome = try await run(["sources", "sample", type])
            XCTAssertTrue(outcome.text.contains("type: \(type)") || outcome.text.contains(":"), outcome.text)
            XCTAssertEqual(outcome.status, 0)
        }
    }

    func testThatASourceCanBeChecked() async throws {
        // Given a folder with a picture beside the built-in source
        try FileManager.default.createDirectory(at: folder.appending(path: "art"), withIntermediateDirectories: true)
        try await poster().write(to: folder.appending(path: "art/한글.jpg"))
        try Data("sources: { sample: { type: sample }, art: { type: folder, path: art } }".utf8).write(
            to: folder.appending(path: "onesheet.yaml"))
        for name in ["sample", "art"] {
            // When the folder is checked
            let outcome = try await run(["sources", "check", name, "--cache", "c"])
            // Then all steps and rules succeed, and the report names untried ones
            XCTAssertEqual(outcome.status, 0, outcome.text)
            XCTAssertEqual(outcome.text.split(separator: "\n").filter { $0.hasPrefix("✓") }.count, 15, outcome.text)
            XCTAssertTrue(outcome.text.contains("– an exhausted quota"), outcome.text)
        }
    }

    func testThatABrokenSourceIsToldWithWhatToDo() async throws {
        // Given a program that returns another title than the requested one
        let program = #"""
            while IFS= read -r line; do
              id=${line#'{"id":'}; id=${id%%,*}
              case $line in
                *initialize*) result='{"protocol":1}' ;;
                *) result='{"id":"other","name":"x"}' ;;
              esac
              printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
            done
            """#
        try Data(program.utf8).write(to: folder.appending(path: "bad.sh"))
        try Data("sources: { bad: { type: exec, command: [sh, bad.sh] } }".utf8).write(to: folder.appending(path: "onesheet.yaml"))
        // When it is checked
        let outcome = try await run(["sources", "check", "bad", "--id", "1", "--cache", "c", "--json"])
        // Then the command fails, and the report names the rule and a solution
        XCTAssertEqual(outcome.status, 1, outcome.text)
        let report = try XCTUnwrap(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
        let rules = try XCTUnwrap(report["rules"] as? [[String: Any]])
        let broken = try XCTUnwrap(rules.first { $0["holds"] as? Bool == false }, outcome.text)
        XCTAssertNotNil(broken["problem"])
        XCTAssertNotNil(broken["advice"])
    }

    func testThatTheServerEndsWellWhenItIsTold() async throws {
        // Given a server
        let (server, _) = try await Program.serve(["--cache", "c"], in: folder)
        // When it receives SIGTERM
        server.terminate()
        server.waitUntilExit()
        // Then it exits with success
        XCTAssertEqual(server.terminationStatus, 0)
        XCTAssertEqual(server.terminationReason, .exit)
    }

    func testThatAServerStartsOnADamagedCacheAndKeepsWhatWasDecided() async throws {
        // Given a cache and a blocked picture
        _ = try await run(["prefetch", "sample", "--id", "1", "--sizes", "w92", "--cache", "c", "--json"])
        _ = try await run(["sources", "block", "0123456789abcdef", "--cache", "c"])
        // When marker, index, lock and state are all damaged
        let cache = folder.appending(path: "c")
        let index = try XCTUnwrap(
            FileManager.default.contentsOfDirectory(atPath: cache.path).first { $0.hasPrefix("index-") && $0.hasSuffix(".sqlite") })
        for name in ["CACHEDIR.TAG", index, "lock"] {
            try FileManager.default.removeItem(at: cache.appending(path: name))
            try FileManager.default.createDirectory(at: cache.appending(path: name), withIntermediateDirectories: false)
        }
        let state = try FileHandle(forWritingTo: cache.appending(path: "state.sqlite"))
        try state.write(contentsOf: Data(count: 4096))
        try state.close()
        let (server, url, log) = try await Program.serveWithLog(["--cache", "c"], in: folder)
        // Then it serves its entries, logs the damaged items, and still blocks the picture
        let said = await log.read(until: "the state was damaged")
        XCTAssertTrue(said.contains("the damaged CACHEDIR.TAG of the cache is replaced"), said)
        XCTAssertTrue(said.contains("state.sqlite.damaged-"), said)
        let answer = try await WebAnswer.to(url + "/t/p/w92/sample/1.jpg")
        XCTAssertTrue(answer.field("Cache-Status")?.hasPrefix("onesheet; hit") ?? false)
        Program.end(server)
        let blocked = try await run(["sources", "block", "--cache", "c"])
        XCTAssertEqual(blocked.text, "0123456789abcdef\n")
    }

    private func poster() async throws -> Data {
        let (server, url) = try await Program.serve(["--cache", "c"], in: folder)
        defer { Program.end(server) }
        return try await WebAnswer.to(url + "/t/p/w342/sample/1.jpg").body
    }
}
