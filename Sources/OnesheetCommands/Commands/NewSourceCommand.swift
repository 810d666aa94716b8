import ArgumentParser
import FoundationEssentials
import OnesheetCore
import OnesheetServer

/// `onesheet new-source films`: the beginning of a source, in each of the ways to add one.
struct NewSourceCommand: PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-source", abstract: "Write the beginning of a source of your own.",
        discussion: """
              onesheet new-source films                      films.yaml, a manifest for an API with JSON responses
              onesheet new-source films --type exec          films.py, a program that answers by itself
              onesheet new-source films --type folder        the lines of a standard source, such as folder, remote or s3
              onesheet new-source films --type swift --package URL
                                                             films/, a Swift package with the source, its tests and a server

            Nothing is overwritten. To start from a built-in manifest instead: onesheet sources manifest tmdb > films.yaml
            """)

    @Argument(help: "The name of the source, which is also that of its file.") var name: String
    @Option(
        name: .long,
        help: "rest for a manifest, exec for a program in Python, swift for a package, or the type of a standard source.")
    var type = "rest"
    @Option(name: .long, help: "For swift: the URL of Onesheet's repository, or the path of a copy.") var package: String?

    private struct File {
        let path: String
        let text: String
        var isProgram = false
    }

    func validate() throws {
        guard TitleReference.isSourceName(name), !["http", "https"].contains(name) else {
            throw ValidationError(
                "“\(name)” is not the name of a source: it needs a lower-case letter, then letters, digits, “-”, “+” or “.”")
        }
        guard (type == "swift") == (package != nil) else {
            throw ValidationError(
                "--type swift needs --package with the URL of Onesheet's repository, or the path of a copy; no other does")
        }
    }

    func run(with plugins: PluginList) async throws {
        let (files, settings, next) = try parts(plugins)
        for file in files where FileManager.default.fileExists(atPath: file.path) {
            throw ConfigurationError(path: "", message: "\(file.path) exists already; it stays as it is")
        }
        for file in files { try Self.write(file) }
        let written = files.map(\.path).joined(separator: ", ")
        StandardStreams.output(
            lines: """
                # \(written.isEmpty ? "" : "\(written) is written. ")In onesheet.yaml:
                sources:
                  \(name): \(settings)
                # Then: \(next)
                """)
    }

    /// The files to write, the value of the source in a configuration, and the command that tries it.
    private func parts(_ plugins: PluginList) throws -> (files: [File], settings: String, next: String) {
        let check = "onesheet sources check \(name)"
        switch type {
        case "rest":
            return (
                [File(path: "\(name).yaml", text: NewSourceTexts.manifest)],
                "{ type: rest, manifest: ./\(name).yaml, variables: { key: \"${FILMS_KEY}\" } }", check
            )
        case "exec":
            return (
                [File(path: "\(name).py", text: NewSourceTexts.program, isProgram: true)],
                "{ type: exec, command: [./\(name).py] }", check
            )
        case "swift":
            let templates = SourceTemplates(
                stem: name.split { "-+.".contains($0) }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
            let files = templates.packageFiles(of: place).map { File(path: "\(name)/\($0.path)", text: $0.text) }
            return (files, templates.settings, "cd \(name); swift test; swift run \(templates.server) sources check \(name)")
        default:
            let sample = try plugins.source(type, at: "--type").sampleConfiguration
            let lines = sample.split(separator: "\n", omittingEmptySubsequences: false).map { "\n    \($0)" }.joined()
            return ([], lines, check)
        }
    }

    /// The dependency on Onesheet in a package.
    private var place: String {
        let text = package ?? ""
        guard text.contains("://") || text.hasPrefix("git@") else {
            return "name: \"onesheet\", path: \"\(URL(filePath: text).standardizedFileURL.path)\""
        }
        return "url: \"\(text)\", branch: \"main\""
    }

    private static func write(_ file: File) throws {
        do {
            let url = URL(filePath: file.path)
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(file.text.utf8).write(to: url, options: .withoutOverwriting)
            if file.isProgram { try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path) }
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            throw ConfigurationError(path: "", message: "\(file.path) exists already; it stays as it is")
        } catch {
            throw ConfigurationError(path: "", message: "cannot write \(file.path)")
        }
    }
}

/// The files of new sources.
private enum NewSourceTexts {
    static let manifest = """
        # The requests to a service, and the places of the facts in its responses. More words: onesheet sources manifest tmdb
        baseURL: https://films.example/v1
        rate: 5                                              # requests per second
        headers: { Authorization: "Bearer {key}" }           # {key} is given under “variables” in onesheet.yaml
        list:
          get: "/films{?page}"
          items: /results                                    # the place of the list: a JSON pointer
          pages: /pages
          fields: &film
            id: { at: /id, as: text }
            name: /title
            originalName: /original_title
            originalLanguage: /language
            overview: /plot
            releaseDate: /released
        search: { get: "/search{?query,page}", items: /results, pages: /pages, fields: *film }
        title: { get: "/films/{id}", fields: *film }
        candidates:
          get: "/films/{id}/images"
          items: { poster: /posters, backdrop: /backdrops, logo: /logos }
          fields: { url: /url, language: /language, votes: /average, count: /votes, width: /width, height: /height }

        """

    static let program = """
        #!/usr/bin/env python3
        # A source for Onesheet: JSON-RPC 2.0, one message per line.

        import json
        import sys

        FILMS = {"1": {"id": "1", "name": "The First Film"}}
        POSTERS = {"1": [{"url": "https://films.example/1.jpg", "language": "en", "width": 1000, "height": 1500}]}


        class Fault(Exception):
            # -32001 not found, -32002 key rejected, -32003 quota exhausted, -32004 unavailable, -32005 not supported
            def __init__(self, code, message):
                super().__init__(message)
                self.code = code


        def titles(params):
            if "date" in params:
                raise Fault(-32005, "lists by day")
            phrase = params.get("phrase", "").lower()
            found = [film for film in FILMS.values() if phrase in film["name"].lower()]
            return {"titles": found if params["page"] == 1 else [], "total": len(found)}


        def title(params):
            if params["id"] not in FILMS:
                raise Fault(-32001, "there is no such film")
            return FILMS[params["id"]]


        def candidates(params):
            return {"candidates": POSTERS[title(params)["id"]]}


        METHODS = {"initialize": lambda params: {"protocol": 1}, "titles": titles, "title": title, "candidates": candidates}

        for line in sys.stdin:
            call = json.loads(line)
            answer = {"jsonrpc": "2.0", "id": call["id"]}
            try:
                if call["method"] not in METHODS:
                    raise Fault(-32601, call["method"])
                answer["result"] = METHODS[call["method"]](call["params"])
            except Fault as fault:
                answer["error"] = {"code": fault.code, "message": str(fault)}
            # Without a flush, the answer stays here.
            print(json.dumps(answer, ensure_ascii=False), flush=True)

        """
}
