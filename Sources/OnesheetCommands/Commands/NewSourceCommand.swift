import ArgumentParser
import FoundationEssentials
import OnesheetCore

/// `onesheet new-source films`: the beginning of a source without Swift.
struct NewSourceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-source", abstract: "Write the beginning of a source of your own: a manifest or a program.",
        discussion: """
              onesheet new-source films                      films.yaml, a manifest for an API with JSON responses
              onesheet new-source films --type exec          films.py, a program that answers by itself

            Nothing is overwritten. To start from a built-in manifest instead: onesheet sources manifest tmdb > films.yaml
            """)

    /// What a new source is.
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case rest, exec
    }

    @Argument(help: "The name of the source, which is also that of its file.") var name: String
    @Option(name: .long, help: "rest for a manifest, exec for a program in Python.") var type = Kind.rest

    func validate() throws {
        guard TitleReference.isSourceName(name), !["http", "https"].contains(name) else {
            throw ValidationError(
                "“\(name)” is not the name of a source: it needs a lower-case letter, then letters, digits, “-”, “+” or “.”")
        }
    }

    func run() throws {
        let (file, text, settings) =
            switch type {
            case .rest:
                (
                    "\(name).yaml", NewSourceTexts.manifest,
                    "type: rest, manifest: ./\(name).yaml, variables: { key: \"${FILMS_KEY}\" }"
                )
            case .exec: ("\(name).py", NewSourceTexts.program, "type: exec, command: [./\(name).py]")
            }
        do {
            try Data(text.utf8).write(to: URL(filePath: file), options: .withoutOverwriting)
            if type == .exec { try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file) }
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            throw ConfigurationError(path: "", message: "\(file) exists already; it stays as it is")
        } catch {
            throw ConfigurationError(path: "", message: "cannot write \(file)")
        }
        StandardStreams.output(
            lines: """
                # \(file) is written. In onesheet.yaml:
                sources:
                  \(name): { \(settings) }
                # Then: onesheet sources check \(name)
                """)
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
