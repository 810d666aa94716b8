import OnesheetValues
import XCTest

@testable import OnesheetAddress

/// Empty, missing and odd arguments of options.
final class OptionArgumentsTests: XCTestCase {
    func testEmptyArgumentKeepsThePresentValue() throws {
        // Given options, the same with empty or missing arguments behind them, and what these mean
        for (first, second, meaning) in [
            ("q:50", "q:", "q:50"), ("q:auto", "q", "q:auto"), ("rot:90", "rot:", "rot:90"), ("w:10/dpr:2", "dpr:", "w:20"),
            ("c:10:20:no", "c:", "c:10:20:no"), ("c:10:20:no", "c::30", "c:10:30:no"), ("c:10:20", "c:::so", "c:10:20:so"),
            ("square:1", "c:", "square:1"), ("inset:1:2:3:4", "c::30", "c:0:30"), ("c:10:20", "inset:", "c:10:20"),
            ("inset:1:2:3:4", "inset::5", "inset:1:5:3:5"), ("fl:1", "fl::1", "fl:1:1"), ("fl:1:1", "fl:", "fl:1:1"),
            ("pd:1:2:3:4", "pd:", "pd:1:2:3:4"), ("pd:1:2:3:4", "pd::5", "pd:1:5:3:5"), ("", "pd::5", "pd:0:5:0:5"),
            ("pd:1:2:3:4", "pd:::6", "pd:1:2:6:4"), ("z:2:3", "z:", "z:2:3"), ("z:2:3", "z::4", "z:2:4"), ("z:2:3", "z:4", "z:4:4"),
            ("t:10:fff:1:1", "t:", "t:10:fff:1:1"), ("t:10:fff:1", "t:20::0:1", "t:20:fff:0:1"),
            ("wm:0.5:no:1:2:3", "wm:", "wm:0.5:no:1:2:3"), ("wm:0.5:no:1:2:3", "wm:1:::4", "wm:1:no:1:4:3"),
            ("ex:1:no", "ex:", "ex:1:no"), ("ex:1:no", "ex::so", "ex:1:so"), ("", "ex::so", ""),
            ("ex:1:no", "s:1:2::1", "ex:1:no/s:1:2"),
            ("pix:4", "pix:", "pix:4"), ("bl:2", "bl:", "bl:2"), ("el:1", "el:", "el:1"), ("mb:9", "mb:", "mb:9"),
            ("g:no", "g:", "g:no"),
            ("rs:fill:1:2", "rs:::3", "rs:fill:1:3"), ("msr:2", "msr:", "msr:2"), ("raw:1", "raw:", "raw:1"), ("", "t:5/t:", "t:5"),
        ] {
            // Then the second says no more than what it names
            XCTAssertEqual(
                try ImageOptions.clients.parse("\(first)/\(second)").transform, try ImageOptions.clients.parse(meaning).transform,
                "\(first)/\(second)")
        }
        // And what is beside the transform is kept too
        let beside = try ImageOptions.clients.parse("exp:1700000000/att:1/fn:a/exp:/att:/fn:")
        XCTAssertEqual(beside.expires, 1_700_000_000)
        XCTAssertEqual(beside.disposition, Disposition(isAttachment: true, name: "a"))
        XCTAssertNil(try ImageOptions.clients.parse("att:").disposition)
        // And a background without a colour is none, as in imgproxy
        XCTAssertEqual(try ImageOptions.clients.parse("bg:fff/bg:").transform, Transform())
    }

    func testMinusZeroIsZero() throws {
        for (text, same) in [
            ("c:-0:50", "c:0:50"), ("t:-0", "t:0"), ("g:no:5:-0", "g:no:5:0"), ("g:fp:-0:-0.0", "g:fp:0:0"), ("bl:-0/sh:-0.0", ""),
            ("g:pt:-0:1", "g:pt:0:1"), ("wm:1:ce:-0:-0:-0", "wm:1"), ("ex:1:so:-0:3", "ex:1:so:0:3"), ("w:-0", ""), ("rot:-0", ""),
        ] {
            let texts = try [text, same].map { try ImageOptions.clients.parse($0).transform }.map {
                "\($0.canonicalText) \($0.options)"
            }
            XCTAssertEqual(texts[0], texts[1], text)
        }
    }
}
