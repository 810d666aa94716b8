import Foundation
import OnesheetCore
import OnesheetTesting
import RestSource
import XCTest

/// What a manifest says wrongly is refused at the start, with the nearest valid word.
final class ManifestErrorTests: XCTestCase {
    private let api = """
        api:
          baseURL: https://a.example
          headers: { Authorization: "Bearer {token}" }
          token: { post: /login, json: { apikey: { text: "{key}" } }, at: /token }
          list: { get: "/l{?page}", items: { at: /l, where: { at: /kind, equals: film } }, fields: { id: /id, name: { at: /name, before: "(" } } }
          lists: { "of-{year}": { get: "/y/{year}{?page}", items: /l, fields: { id: /id, name: /name } } }
          title: { get: "/t/{id}", fields: { id: /id, name: /name } }
          candidates: { get: "/c/{id}", items: { poster: /c, logo: [/l, /m] }, fields: { url: { text: "https://b.example{/path}" } } }
          cases: [{ id: "tv-{show}-s{season}", title: { get: "/tv/{show}/{season}", fields: { id: { text: "tv-{show}-s{season}" }, name: /name } } }]
        variables: { key: k }
        """

    func testValidManifestIsAccepted() throws {
        XCTAssertNoThrow(try RecordedTMDB.source(api))
    }

    func testMistakesAreNamed() throws {
        // Given a text of the manifest, what stands there instead, and the error
        let form = "is not the form of an id, such as tv-{show}-s{season}, with a text between its variables"
        let variables = "(values belong under “variables”)"
        let cases: [(String, String, String)] = [
            ("where: { at: /kind", "were: { at: /kind", "api.list.items: unknown key “were”; did you mean “where”?"),
            ("equals: film", "equal: film", "api.list.items.where: unknown key “equal”; did you mean “equals”?"),
            ("before:", "befor:", "api.list.fields.name: unknown key “befor”; did you mean “before”?"),
            (
                "before: \"(\"", "replace: [[a]]",
                "api.list.fields.name.replace: needs pairs of a text and its replacement: [[\"_small\", \"_large\"]]"
            ),
            ("before: \"(\"", "before: \"\"", "api.list.fields.name.before: needs a text"),
            ("at: /name, before", "at: /name, text: x, before", "api.list.fields.name.text: a field has “at” or “text”, not both"),
            ("logo: [/l", "logos: [/l", "api.candidates.items: unknown key “logos”; did you mean “logo”?"),
            ("{/path}", "{path}", "candidates.fields: unknown variable “path”; known: id, key, name \(variables)"),
            (
                "{/path}", "{/path",
                "api.candidates.fields.url.text: “https://b.example{/path” is not a text with {variables} such as “Bearer {token}”"
            ),
            ("get: \"/l{?page}\"", "get: \"/l{?offset}\"", "list.perPage: is missing; {offset} is counted with it"),
            ("get: \"/l{?page}\"", "get: \"/l{?token}\"", "list.get: unknown variable “token”; known: key, page \(variables)"),
            (
                "of-{year}", "of-{year}{day}",
                "api.lists: “of-{year}{day}” is not the form of a name, such as collection-{collection}"
            ),
            ("/y/{year}", "/y/{yaer}", "lists.of-{year}.get: unknown variable “yaer”; did you mean “year”? \(variables)"),
            ("/y/{year}{?page}", "/y/{year}{?offset}", "lists.of-{year}.perPage: is missing; {offset} is counted with it"),
            ("get: \"/l{?page}\"", "post: /l, get: /l", "api.list.post: a request has “get” or “post”, not both"),
            ("{ text: \"{key}\" }", "{ text: \"{kei}\" }", "token.json: unknown variable “kei”; did you mean “key”? \(variables)"),
            (
                "{ text: \"{key}\" }", "{ text: \"{key}\", as: integr }",
                "api.token.json: unknown type “integr”; did you mean “integer”?"
            ),
            ("{ text: \"{key}\" }", "{ text: \"{key}\", a: x }", "api.token.json: unknown key “a”; did you mean “as”?"),
            ("tv-{show}-s{season}\", title", "tv-{show}{season}\", title", "api.cases.[0].id: “tv-{show}{season}” \(form)"),
            ("tv-{show}-s{season}\", title", "tv-{show}s{season}\", title", "api.cases.[0].id: “tv-{show}s{season}” \(form)"),
            (
                "/tv/{show}/{season}", "/tv/{show}/{sesaon}",
                "cases.[0].title.get: unknown variable “sesaon”; did you mean “season”? \(variables)"
            ),
            (
                "variables: { key: k }", "variables: { key: k, token: t }",
                "variables.token: is the token that the service gives (“token” of the manifest)"
            ),
            (
                "  title: { get: \"/t/{id}\"", "  rate: 0\n  title: { get: \"/t/{id}\"",
                "rate: needs a number of requests per second above 0"
            ),
            (
                "fields: { id: /id, name: /name } }\n", "item: /x, items: /y, fields: { id: /id, name: /name } }\n",
                "api.title.items: a title is at “item” or in “items”, not both"
            ),
        ]

        for (text, replacement, expected) in cases {
            XCTAssertTrue(api.contains(text), text)

            // When
            let make = { try RecordedTMDB.source(self.api.replacing(text, with: replacement, maxReplacements: 1)) }

            // Then
            XCTAssertThrowsError(try make(), replacement) { XCTAssertEqual("\($0)", expected) }
        }
    }

    func testMistakesInAFileHaveTheirPlace() throws {
        // Given
        let lines = [
            "baseURL: https://a.example", "title: { get: /t, fields: { id: /id, name: /id } }", "candidates:", "  get: /c",
            "  items: /c", "  fields: { url: /url }", "rate: 1",
        ]
        let folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "films.yaml")
        for (line, replacement, expected) in [
            (4, "  itmes: /c", "5:3: manifest.candidates: unknown key “itmes”"),
            (6, "cases: [{ id: \"a{b}{c}\" }]", "7:15: manifest.cases.[0].id: "),
            (0, "baseURl: https://a.example", "1:1: manifest: unknown key “baseURl”"),
        ] {
            var wrong = lines
            wrong[line] = replacement
            try Data(wrong.joined(separator: "\n").utf8).write(to: file)
            // When
            XCTAssertThrowsError(try RecordedTMDB.source("manifest: \(file.path)")) { error in
                // Then
                XCTAssertTrue("\(error)".hasPrefix("\(file.path):\(expected)"), "\(error)")
            }
        }
    }

    func testManifestWithoutTitlesOrPicturesIsRefused() {
        // Given
        let cases = [
            (
                "title: { get: /t, fields: { id: /id, name: /id } }",
                "candidates: is missing"
            ),
            (
                "candidates: { get: /c, items: /c, fields: { url: /url } }",
                "title: is missing, and there is no “list” that has all titles"
            ),
            (
                "title: { get: /t, fields: { id: /id, name: /id } }\n  cases: [{ id: \"a{b}\" }]\n  candidates: { get: /c, items: /c, fields: { url: /url } }",
                "cases.[0]: needs “title”, “candidates” or both, or else “resolve”"
            ),
        ]

        for (keys, expected) in cases {
            // When
            let make = { try RecordedTMDB.source("api:\n  baseURL: https://a.example\n  \(keys)") }

            // Then
            XCTAssertThrowsError(try make(), keys) { XCTAssertEqual("\($0)", expected) }
        }
    }
}
