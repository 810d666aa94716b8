import OnesheetCore
import XCTest

final class ForeignFormatTests: XCTestCase {
    private func kind(_ bytes: [UInt8]) -> ForeignFormat? { ForeignFormat(of: bytes.span) }

    private func boxed(_ brands: [String]) -> [UInt8] {
        [0, 0, 0, UInt8(12 + brands.count * 4)] + Array("ftyp".utf8) + Array(brands[0].utf8) + [0, 0, 0, 0]
            + brands.dropFirst().flatMap { Array($0.utf8) }
    }

    func testThatAFileSaysItsKind() {
        let files: [(ForeignFormat?, [UInt8])] = [
            (.gif, Array("GIF89a".utf8)), (.webp, Array("RIFF\0\0\0\0WEBPVP8 ".utf8)), (.avif, boxed(["avif", "mif1"])),
            (.avif, boxed(["mif1", "heic", "avif"])), (.heic, boxed(["heic", "mif1"])), (.heic, boxed(["mif1", "heic"])),
            (.jp2, [0, 0, 0, 12] + Array("jP  \r\n".utf8) + [0x87, 0x0A]), (.jp2, [0xFF, 0x4F, 0xFF, 0x51]),
            (.jxl, [0xFF, 0x0A, 0]), (.jxl, [0, 0, 0, 12] + Array("JXL \r\n".utf8) + [0x87, 0x0A]), (.tiff, Array("II*\0".utf8)),
            (.tiff, Array("MM\0*".utf8)), (.bmp, Array("BM".utf8) + [9, 9, 9, 9, 0, 0, 0, 0]), (.ico, [0, 0, 1, 0, 2, 0]),
            (.pdf, Array("%PDF-1.7".utf8)), (.svg, Array("\n<?xml version=\"1.0\"?><!-- x --><SVG xmlns=".utf8)),
            (.svg, Array("\u{FEFF}<svg>".utf8)), (.html, Array(" <!DOCTYPE html><p><svg>".utf8)), (.html, Array("<html>".utf8)),
            (nil, []), (nil, Array("BM is two letters".utf8)), (nil, Array("<rss>".utf8)), (nil, Array("plain text".utf8)),
            (nil, boxed(["isom", "mp42"])), (nil, [0xFF, 0xFF, 0xFF, 0xFF] + Array("ftyp".utf8)),
            (nil, [0, 0, 0, 3] + Array("ftypavi".utf8)),
        ]
        for (expected, bytes) in files {
            XCTAssertEqual(kind(bytes), expected, String(decoding: bytes, as: UTF8.self))
            // Truncated anywhere, it is this or nothing.
            for end in 0..<bytes.count {
                if let other = kind(Array(bytes[..<end])) {
                    XCTAssertTrue([expected, .svg, .html, .heic].contains(other), "\(other)")
                }
            }
        }
    }

    func testThatTheMessageNamesTheKindAndTheTrait() {
        XCTAssertEqual(
            "\(ForeignFormat.webp)",
            "the bytes are an image in the format WebP, for which this server has no codec; Onesheet's is built with the package trait WebP"
        )
        for (format, name, trait) in [(ForeignFormat.tiff, "TIFF", "TIFF"), (.heic, "HEIC", "HEIC"), (.jxl, "JPEG XL", "JXL")] {
            XCTAssertTrue("\(format)".contains("the format \(name), for which this server has no codec"), "\(format)")
            XCTAssertTrue("\(format)".hasSuffix("with the package trait \(trait)"), "\(format)")
        }
        XCTAssertEqual("\(ForeignFormat.bmp)", "the bytes are an image in the format BMP, which Onesheet does not read")
        XCTAssertEqual("\(ForeignFormat.pdf)", "the bytes are a PDF document and not an image")
    }
}
