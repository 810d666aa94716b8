import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetImaging

final class SVGDocumentTests: XCTestCase {
    private func sanitized(_ text: String) throws(RenderError) -> SVGDocument {
        try SVGDocument(sanitizing: ByteBuffer(string: text))
    }

    private func drawing(_ inner: String, _ attributes: String = #"viewBox="0 0 4 2""#) -> String {
        #"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" \#(attributes)>\#(inner)</svg>"#
    }

    func testEditorsDrawingStaysVisible() throws {
        // Given a file as editors write it
        let file = """
            \u{FEFF}<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet href="http://x/y.css"?>
            <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
            <!-- Generator --><svg:svg xmlns:svg="http://www.w3.org/2000/svg" xmlns:i="http://editor" viewBox="0 0 300.4 99" i:pages="1"
            data-name="Layer (1)"><svg:title>Film</svg:title><i:view><script/></i:view><metadata><a href="http://x"/></metadata>
            <style type="text/css"><![CDATA[.a>b{fill:url( '#g' )}]]></style>
            <defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs>
            <g id="a" transform="translate(1 2) scale(2)" style="fill:url(#g)">&#x1F3AC;<path d="M0 0&#10;1 1" class="a"/></g>
            <use xlink:href="#a"/><text>한글 &lt;&amp;<tspan>x</tspan>y</text></svg:svg>
            """
        // When it is sanitised
        let document = try sanitized(file)
        // Then it has the drawing, and nothing of the editor
        XCTAssertEqual(
            String(buffer: document.bytes),
            #"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 300.4 99">"#
                + #"<style type="text/css">.a&gt;b{fill:url( '#g' )}</style>"#
                + #"<defs><linearGradient id="g"><stop offset="0"></stop></linearGradient></defs>"#
                + #"<g id="a" transform="translate(1 2) scale(2)" style="fill:url(#g)"><path d="M0 0\#n1 1" class="a"></path></g>"#
                + ##"<use xlink:href="#a"></use><text>한글 &lt;&amp;<tspan>x</tspan>y</text></svg>"##)
        XCTAssertEqual([document.width, document.height], [300, 99])
        // And sanitising again changes nothing
        XCTAssertEqual(try SVGDocument(sanitizing: document.bytes).bytes, document.bytes)
    }

    func testPrefixesAreThoseOfTheFile() throws {
        // Given a file whose prefixes are its own, and one that gives a prefix to another language
        let file = """
            <v:svg xmlns:v="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink" viewBox="0 0 4 2"><v:g id="a"/>
            <v:use l:href="#a"/><svg:path xmlns:svg="http://editor"/><p xmlns="http://page"><b/></p><v:path d="M0 0"/></v:svg>
            """
        // When it is sanitised
        let document = try sanitized(file)
        // Then it has what is SVG
        XCTAssertEqual(
            String(buffer: document.bytes),
            #"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 4 2">"#
                + ##"<g id="a"></g><use xlink:href="#a"></use><path d="M0 0"></path></svg>"##)
        for other in ["<v:svg/>", #"<svg xmlns="http://page" width="4" height="2"/>"#] {
            XCTAssertThrowsError(try sanitized(other), other)
        }
    }

    func testHostileDrawingsAreRefused() {
        let parts = [
            "<script>alert(1)</script>", #"<script href="a.js"/>"#, #"<svg:script xmlns:svg="http://www.w3.org/2000/svg"/>"#,
            "<SCRIPT/>", #"<path onclick="x"/>"#, #"<path OnLoad="x"/>"#, "<foreignObject><p/></foreignObject>",
            "<iframe/>", #"<a href="https://x"><path/></a>"#, #"<image href="data:image/png;base64,"/>"#,
            #"<image href="/x.png"/>"#,
            #"<use href="http://x/y.svg#a"/>"#, #"<use xlink:href="data:image/svg+xml,x"/>"#, #"<use href=" #a"/>"#,
            #"<set attributeName="href" to="javascript:x"/>"#, #"<animate attributeName="href" values="javascript:x"/>"#,
            #"<feImage href="http://x"/>"#, #"<handler type="text/javascript"/>"#, #"<path fill="url(http://x)"/>"#,
            #"<path style="fill:URL ( 'http://x#a' )"/>"#, #"<path fill="url('' #a)"/>"#, #"<path fill="url(&quot;'#a&quot;)"/>"#,
            #"<path style="background:image-set(&quot;x&quot; 1x)"/>"#, #"<path style="width:expression(alert(1))"/>"#,
            #"<path style="fill:u\72l(http://x)"/>"#, #"<path style="fill:\75\72\6c(x)"/>"#, "<style>@import 'http://x';</style>",
            "<style>@font-face{src:url(http://x)}</style>", "<style>path{fill:url(//x)}</style>",
            "<style>pa<![CDATA[th{fill:ur]]>l(http://x)}</style>", "<style>path{fill:&#117;rl(http://x)}</style>",
            #"<path fill="&#x75;rl(http://x)"/>"#, "<path>&xxe;</path>", #"<path id="&#1;"/>"#, #"<path id="a" id="b"/>"#,
            "<path fill='\(String(repeating: "url(#,", count: 100_000))'/>",
            "<marker/>", "<filter/>", #"<x:script xmlns:x="http://www.w3.org/2000/svg"/>"#,
            #"<use x:href="http://x" xmlns:x="http://www.w3.org/1999/xlink"/>"#,
            ##"<use xlink:href="#a" x:href="#a" xmlns:x="http://www.w3.org/1999/xlink"/>"##, ##"<use href="#a "/>"##,
            ##"<use ns1:href="#a"/>"##,
            #"<path fill="url(#a"/>"#, "<style>path{fill:url('#a\tb')}</style>",
            "<style>path{fill:url('#a)}</style>", ##"<use href="#%61"/>"##, #"<path fill="url(#%61)"/>"#,
            ##"<g id="a"><use href="#a"/></g>"##, ##"<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>"##,
        ]
        for part in parts {
            XCTAssertThrowsError(try sanitized(drawing(part)), part) { error in
                guard case .codec(.damaged, .svg)? = error as? RenderError else { return XCTFail("\(error)") }
            }
        }
    }

    func testOtherDocumentsAreRefused() {
        for file in [
            "", "<svg", "<svg/>", "<html><svg/></html>", "<x:svg viewBox='0 0 1 1'/>", "<title/>",
            "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg viewBox='0 0 1 1'>&a;</svg>", drawing("", "viewBox='0 0 0 1'"),
            drawing("", "viewBox='0 0 nan 1'"), drawing("", "width='100%' height='1e9'"), drawing("<g>", ""),
            drawing(String(repeating: "<g>", count: 64) + String(repeating: "</g>", count: 64)),
            String(decoding: Array(drawing("").utf8), as: UTF8.self) + "<svg/>",
        ] {
            XCTAssertThrowsError(try sanitized(file), file)
        }
        XCTAssertThrowsError(try SVGDocument(sanitizing: ByteBuffer(bytes: Array("<svg viewBox='0 0 1 1'>".utf8) + [0xFF])))
    }

    func testReasonIsInTheError() {
        XCTAssertThrowsError(try sanitized(drawing("<script/>"))) {
            XCTAssertTrue("\($0)".hasPrefix("svg: the image is damaged: an element “script” is not allowed at byte"), "\($0)")
        }
        let large = drawing(String(repeating: " ", count: SVGDocument.mostBytes))
        XCTAssertThrowsError(try sanitized(large)) {
            XCTAssertEqual($0 as? RenderError, .tooManyBytes(bytes: large.utf8.count, limit: SVGDocument.mostBytes))
        }
    }

    func testRepeatedElementsAreBounded() throws {
        // Given ten levels, each of which repeats the one below ten times
        func levels(_ count: Int) -> String {
            (1...count).map { level in
                "<g id=\"l\(level)\">" + String(repeating: "<use href=\"#l\(level - 1)\"/>", count: 10) + "</g>"
            }.joined()
        }
        // When a few and many levels are sanitised, then only the few pass
        XCTAssertNoThrow(try sanitized(drawing("<path id=\"l0\"/>" + levels(4))))
        XCTAssertThrowsError(try sanitized(drawing("<path id=\"l0\"/>" + levels(10)))) {
            XCTAssertTrue("\($0)".contains("repeats too many elements"), "\($0)")
        }
    }

    func testRepeatedPaintsAreBounded() throws {
        // Given ten patterns or masks, each of which is painted ten times with the one before
        func levels(_ count: Int, _ element: String, _ paint: (Int) -> String) -> String {
            "<\(element) id=\"l0\"><path/></\(element)>"
                + (1...count).map { level in
                    "<\(element) id=\"l\(level)\">" + String(repeating: "<path \(paint(level - 1))/>", count: 10) + "</\(element)>"
                }.joined() + "<path \(paint(count))/>"
        }
        func styles(_ count: Int) -> String {
            "<style>" + (0...count).map { ".m\($0){mask:url(#l\($0))}" }.joined() + "</style>"
        }
        // When a few and many levels are sanitised, then only the few pass
        for (depth, passes) in [(2, true), (9, false)] {
            for text in [
                levels(depth, "pattern") { "fill=\"url(#l\($0))\"" }, levels(depth, "clipPath") { "clip-path=\"url('#l\($0)')\"" },
                levels(depth, "mask") { "style=\"mask: url( #l\($0) )\"" },
                styles(depth) + levels(depth, "mask") { "class=\"m\($0)\"" },
                levels(depth, "pattern") { "/><g fill=\"url(#l\($0))\"><path/><path/></g><path" },
                "<g id=\"u\"><path/><path/></g>" + levels(depth, "pattern") { "/><use href=\"#u\" fill=\"url(#l\($0))\"/><path" },
                levels(depth, "mask") { "style=\"--q:url(#l\($0))\"" },
            ] {
                XCTAssertEqual((try? sanitized(drawing(text))) != nil, passes, text)
            }
        }
        // And what is long is not repeated often
        let long = "<path id=\"p\" d=\"\(String(repeating: "M0 0", count: 20_000))\"/>"
        XCTAssertNoThrow(try sanitized(drawing(long + "<use href=\"#p\"/>")))
        XCTAssertThrowsError(try sanitized(drawing(long + String(repeating: "<use href=\"#p\"/>", count: 1000))))
        // And the many simple clips and gradients of an editor pass
        let parts = (0..<60).map { part in
            "<clipPath id=\"c\(part)\"><path/></clipPath>"
                + "<linearGradient id=\"g\(part)\"><stop/><stop/></linearGradient>"
        }
        let rules = (0..<60).map { ".c\($0){clip-path:url(#c\($0));fill:url(#g\($0))}" }
        let file = drawing("<style>\(rules.joined())</style><defs>\(parts.joined())</defs><path class=\"c1\"/>")
        XCTAssertNoThrow(try sanitized(file))
    }

    func testSizeIsInPixels() throws {
        for (attributes, width, height) in [
            ("width='30' height='20'", 30, 20), ("width='72pt' height='1in'", 96, 96), ("width='25.4mm' height='2.54cm'", 96, 96),
            ("width='100%' height='100%' viewBox='0,0,7,9'", 7, 9), ("width='0.2px' height='1px'", 1, 1),
        ] {
            let document = try sanitized(drawing("", attributes))
            XCTAssertEqual([document.width, document.height], [width, height], attributes)
            XCTAssertTrue(String(buffer: document.bytes).contains("viewBox="), attributes)
        }
    }

    func testDamagedFilesGiveAnErrorOrASafeDrawing() throws {
        // Given hostile files, changed at random
        let seeds = [
            drawing(##"<style>.a{fill:url(#g)}</style><g id="g" onload="x"><use xlink:href="#h"/></g>"##),
            drawing(#"<script>x</script><path fill="url(http://x)" d="M0 0"/><!-- <a> --><![CDATA[<b>]]>"#, "width='3' height='4'"),
            "<!DOCTYPE svg><svg viewBox='0 0 9 9'><metadata><i:x/></metadata><text>&#60;script&#62;</text></svg>",
        ].map { Array($0.utf8) }
        let pieces = ["<", ">", "\"", "&", "on", "<script", "</", "url(", "#", "http://x", "]]>", "<!--", "&#60;", "style"].map {
            Array($0.utf8)
        }
        var random = SplitMix(seed: 46)
        var drawn = 0
        for _ in 0..<20_000 {
            var file = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let start = Int.random(in: 0...file.count, using: &random)
                let end = min(file.count, start + Int.random(in: 0...12, using: &random))
                let piece = Bool.random(using: &random) ? pieces[Int.random(in: 0..<pieces.count, using: &random)] : []
                file.replaceSubrange(start..<end, with: piece)
            }
            // When one is sanitised
            guard let document = try? SVGDocument(sanitizing: ByteBuffer(bytes: file)) else { continue }
            drawn += 1
            // Then the result is a drawing that stays the same, with no tag and no place that was refused
            let text = String(buffer: document.bytes)
            XCTAssertEqual(try SVGDocument(sanitizing: document.bytes).bytes, document.bytes, text)
            XCTAssertFalse(text.contains("<script") || text.contains("url(http") || text.contains("<!"), text)
        }
        XCTAssertGreaterThan(drawn, 100)
    }
}
