import OnesheetValues
import XCTest

@testable import OnesheetAddress

/// The table of all options.
final class TransformOptionTests: XCTestCase {
    /// One address for each option, so that a new option without a line here fails.
    private static let addresses = [
        "c": "c:10.0:20.0:nowe:3:4", "square": "square:1", "inset": "inset:1:2:3:4", "t": "t:10.0:ff00ff:1:0", "ar": "ar:0",
        "rot": "rot:90", "fl": "fl:0:1", "rt": "rt:fill", "w": "w:300", "h": "h:450", "mw": "mw:1", "mh": "mh:2", "mrd": "mrd:3",
        "z": "z:2.0:1.0", "el": "el:1", "g": "g:fp:0.5:0.25", "bl": "bl:1.5", "sh": "sh:0.5", "pix": "pix:4", "gray": "gray:1",
        "bitonal": "bitonal:1", "exar": "exar:1:noea:2.0:3.0", "ex": "ex:1:so", "pd": "pd:1:2:3:4", "bg": "bg:1:2:3",
        "wm": "wm:0.5:re:1.0:2.0:0.0", "q": "q:auto", "mb": "mb:5000", "skp": "skp:jpg:png", "msr": "msr:2.5", "msfs": "msfs:9",
        "sm": "sm:0", "kcr": "kcr:1", "scp": "scp:0",
    ]
    /// Options without arguments in a canonical address: other options, the extension or the
    /// image say the same, or no image depends on them.
    private static let unwritten: Set = [
        "rs", "s", "dpr", "im", "f", "fq", "raw", "att", "fn", "pr", "cb", "exp", "eth", "maf", "mafr",
    ]

    private let grammar = ImageOptions.clients

    func testEveryNameIsUnique() {
        XCTAssertEqual(TransformOption.named.count, TransformOption.all.map(\.names.count).reduce(0, +))
        for name in TransformOption.named.keys { XCTAssertNil(RefusedOptions.reason(name), name) }
    }

    func testEveryOptionIsWrittenAsItIsRead() throws {
        XCTAssertEqual(Set(TransformOption.shortNames), Self.unwritten.union(Self.addresses.keys))
        for (name, address) in Self.addresses {
            XCTAssertEqual(try grammar.parse(address).transform.options, [address], name)
        }
    }

    func testCanonicalOptionsKeepTheirOrder() throws {
        let joined = Self.addresses.filter { !["square", "inset"].contains($0.key) }.values.sorted().joined(separator: "/")
        let transform = try grammar.parse(joined).transform
        XCTAssertEqual(
            transform.options.joined(separator: "/"),
            "c:10.0:20.0:nowe:3:4/t:10.0:ff00ff:1:0/ar:0/rot:90/fl:0:1/rt:fill/w:300/h:450/mw:1/mh:2/mrd:3/z:2.0:1.0/el:1/g:fp:0.5:0.25"
                + "/bl:1.5/sh:0.5/pix:4/gray:1/bitonal:1/exar:1:noea:2.0:3.0/ex:1:so/pd:1:2:3:4/bg:1:2:3/wm:0.5:re:1.0:2.0:0.0/q:auto"
                + "/mb:5000/skp:jpg:png/msr:2.5/msfs:9/sm:0/kcr:1/scp:0")
        XCTAssertEqual(
            transform.canonicalText,
            "crop:10.0x20.0@at,3,4/rot:90/ar:0/trim:10.0@255,0,255h/zoom:2.0x1.0/flip:v/size:fill-300x450/min:1x2/mrd:3/el:1"
                + "/g:fp,0.5,0.25/bl:1.5/sh:0.5/pix:4/gray:1/bitonal:1/exar:1,-1+2.0,3.0/ex:0,1/pd:1,2,3,4/bg:1,2,3"
                + "/wm:0.5@re+1.0,2.0x0.0=/q:auto/mb:5000/skp:jpeg,png/msr:2500000/msfs:9/sm:0/kcr:1/scp:0")
    }

    func testEffectsOfOptions() throws {
        func transform(_ options: String) throws -> Transform { try grammar.parse(options).transform }
        for name in ["rt:fill", "z:2:1", "c:1:1", "square:1", "rot:90", "bl:1", "gray:1", "wm:1", "ex:1"] {
            XCTAssertFalse(try transform(name).showsWhole, name)
        }
        for name in ["", "w:100/h:100", "z:2:2", "sh:1", "bg:fff", "q:3"] { XCTAssertTrue(try transform(name).showsWhole, name) }
        XCTAssertEqual(try transform("bl:1/sh:1/pix:3/gray:1/bitonal:1/wm:1/w:9").passes, 6)
        for name in ["pix:2", "bitonal:1", "wm:1"] { XCTAssertTrue(try transform(name).effects.contains(.packed), name) }
        for name in ["bl:1", "sh:1"] { XCTAssertTrue(try transform(name).effects.isSuperset(of: [.copy, .rows]), name) }
        XCTAssertFalse(try transform("gray:1/bl:1").effects.contains(.packed))
    }
}
