import XCTest

@testable import RestSource

/// The examples of RFC 6570, section by section.
final class URITemplateTests: XCTestCase {
    private let values: [String: URITemplate.Value] = [
        "count": .list(["one", "two", "three"]), "dom": .list(["example", "com"]), "dub": .text("me/too"),
        "hello": .text("Hello World!"),
        "half": .text("50%"), "var": .text("value"), "who": .text("fred"), "base": .text("http://example.com/home/"),
        "path": .text("/foo/bar"),
        "list": .list(["red", "green", "blue"]), "keys": .pairs([("semi", ";"), ("dot", "."), ("comma", ",")]), "v": .text("6"),
        "x": .text("1024"), "y": .text("768"), "empty": .text(""), "empty_keys": .pairs([]), "empty_list": .list([]),
    ]

    private func assertExpansions(_ cases: [(String, String)], line: UInt = #line) throws {
        for (text, expected) in cases {
            // When
            let template = try XCTUnwrap(URITemplate(text), text, line: line)

            // Then
            XCTAssertEqual(template.expand(values), expected, text, line: line)
        }
    }

    func testThatSimpleExpansionEscapesReservedCharacters() throws {
        // Given: §3.2.2
        try assertExpansions([
            ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{half}", "50%25"), ("O{empty}X", "OX"), ("O{undef}X", "OX"),
            ("{x,y}", "1024,768"), ("{x,hello,y}", "1024,Hello%20World%21,768"), ("?{x,empty}", "?1024,"), ("?{x,undef}", "?1024"),
            ("?{undef,y}", "?768"), ("{var:3}", "val"), ("{var:30}", "value"), ("{list}", "red,green,blue"),
            ("{list*}", "red,green,blue"),
            ("{keys}", "semi,%3B,dot,.,comma,%2C"), ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
        ])
    }

    func testThatReservedExpansionKeepsThem() throws {
        // Given: §3.2.3
        try assertExpansions([
            ("{+var}", "value"), ("{+hello}", "Hello%20World!"), ("{+half}", "50%25"),
            ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
            ("{+base}index", "http://example.com/home/index"), ("O{+empty}X", "OX"), ("O{+undef}X", "OX"),
            ("{+path}/here", "/foo/bar/here"),
            ("here?ref={+path}", "here?ref=/foo/bar"), ("up{+path}{var}/here", "up/foo/barvalue/here"),
            ("{+x,hello,y}", "1024,Hello%20World!,768"),
            ("{+path,x}/here", "/foo/bar,1024/here"), ("{+path:6}/here", "/foo/b/here"), ("{+list}", "red,green,blue"),
            ("{+keys}", "semi,;,dot,.,comma,,"), ("{+keys*}", "semi=;,dot=.,comma=,"),
        ])
    }

    func testThatFragmentsLabelsAndPathsBeginWithTheirSign() throws {
        // Given: §3.2.4 to §3.2.6
        try assertExpansions([
            ("{#var}", "#value"), ("{#hello}", "#Hello%20World!"), ("foo{#empty}", "foo#"), ("foo{#undef}", "foo"),
            ("{#path:6}here", "#/foo/bhere"), ("{#keys*}", "#semi=;,dot=.,comma=,"), ("{.who}", ".fred"),
            ("{.who,who}", ".fred.fred"),
            ("www{.dom*}", "www.example.com"), ("X{.var:3}", "X.val"), ("X{.list}", "X.red,green,blue"),
            ("X{.list*}", "X.red.green.blue"),
            ("X{.empty_keys*}", "X"), ("X{.empty}", "X."), ("{/who}", "/fred"), ("{/half,who}", "/50%25/fred"),
            ("{/var,empty}", "/value/"),
            ("{/var,undef}", "/value"), ("{/var:1,var}", "/v/value"), ("{/list*,path:4}", "/red/green/blue/%2Ffoo"),
            ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
        ])
    }

    func testThatParametersAndQueriesHaveNames() throws {
        // Given: §3.2.7 to §3.2.9
        try assertExpansions([
            (";{who}", ";fred"), ("{;who}", ";who=fred"), ("{;half}", ";half=50%25"), ("{;empty}", ";empty"),
            ("{;v,empty,who}", ";v=6;empty;who=fred"),
            ("{;v,undef,who}", ";v=6;who=fred"), ("{;hello:5}", ";hello=Hello"), ("{;list}", ";list=red,green,blue"),
            ("{;list*}", ";list=red;list=green;list=blue"), ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"), ("{?who}", "?who=fred"),
            ("{?x,y,empty}", "?x=1024&y=768&empty="), ("{?x,y,undef}", "?x=1024&y=768"), ("{?var:3}", "?var=val"),
            ("{?list*}", "?list=red&list=green&list=blue"), ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
            ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
            ("{&who}", "&who=fred"), ("?fixed=yes{&x}", "?fixed=yes&x=1024"), ("{&var:3}", "&var=val"), ("{?undef}", ""),
            ("{?empty_list}", ""),
        ])
    }

    func testThatLiteralsAreEscapedOnce() throws {
        // Given
        let template = try XCTUnwrap(URITemplate("/한/%ED%95 x%"))

        // When
        let text = template.expand([:] as [String: String])

        // Then
        XCTAssertEqual(text, "/%ED%95%9C/%ED%95%20x%25")
    }

    func testThatAPrefixCountsCharactersNotBytes() throws {
        // Given
        let template = try XCTUnwrap(URITemplate("{name:2}"))

        // When
        let text = template.expand(["name": "광해왕"])

        // Then
        XCTAssertEqual(text, "%EA%B4%91%ED%95%B4")
    }

    func testThatWhatIsNoTemplateIsRefused() {
        // Given
        let texts = [
            "{", "}", "{}", "{a", "a}", "{a b}", "{a,}", "{=a}", "{|a}", "{a:0}", "{a:10000}", "{a:x}", "{+}", "{{a}}", "{a-b}",
        ]

        // When
        let templates = texts.map { ($0, URITemplate($0)) }

        // Then
        for (text, template) in templates { XCTAssertNil(template, text) }
    }
}
