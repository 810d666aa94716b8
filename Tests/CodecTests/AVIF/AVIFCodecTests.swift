import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import AVIFCodec

final class AVIFCodecTests: XCTestCase {
    private let codec = AVIFCodec(effort: 0)

    func testThatQualitiesRiseWithThoseOfJPEG() {
        let own = (1...100).map { AVIFCodec.looks.own($0) }
        XCTAssertEqual([own[0], own[79], own[99]], [1, 68, 100])
        for (lower, higher) in zip(own, own.dropFirst()) { XCTAssertLessThanOrEqual(lower, higher) }
    }

    private func file(_ options: EncodeOptions = EncodeOptions(quality: 95)) throws -> [UInt8] {
        var picture = try PixelBuffer(PixelLayout(width: 24, height: 16, model: .rgb), limits: Limits())
        for y in 0..<16 {
            picture.withMutableRow(y) { row in for place in 0..<row.count { row[place] = UInt8(place * 3) } }
        }
        return Array(try codec.encode(picture, options).readableBytesView)
    }

    private func header(_ file: [UInt8]) throws -> ImageHeader { try codec.header(of: file.span) }

    /// A file with these code points (ITU-T H.273).
    private func file(primaries: UInt8, transfer: UInt8) throws -> [UInt8] {
        var bytes = try file()
        let name = Array("colrnclx".utf8)
        let places = (0..<(bytes.count - name.count)).filter { bytes[$0...].starts(with: name) }
        for place in places {
            bytes[place + 9] = primaries
            bytes[place + 11] = transfer
        }
        XCTAssertFalse(places.isEmpty)
        return bytes
    }

    func testThatEachOrientationComesBackFromIrotAndImir() throws {
        for orientation in Orientation.allCases {
            // Given
            let tiff =
                Array("II*\0\u{8}\0\0\0\u{1}\0\u{12}\u{1}\u{3}\0\u{1}\0\0\0".utf8) + [
                    UInt8(orientation.rawValue), 0, 0, 0, 0, 0, 0, 0,
                ]

            // When
            let header = try header(try file(EncodeOptions(exif: tiff)))

            // Then
            XCTAssertEqual(header.orientation, orientation)
            XCTAssertEqual(header.exif, tiff)
        }
    }

    /// The bytes of a box.
    private func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8((body.count + 8) >> $0 & 255) } + Array(name.utf8) + body
    }

    func testThatFilesOfMoreItemsThanAnyoneWritesAreRefusedUnread() {
        // Given files that announce this many items, extents, properties, associations or references, or such a long sequence
        let many: [UInt8] = [0, 0, 4, 1]
        let properties = [[UInt8]](repeating: box("free", []), count: 1025).flatMap { $0 }
        let head = box("ftyp", Array("avif\0\0\0\0avifmif1".utf8))
        let full: [UInt8] = [0, 0, 0, 0]
        let bodies = [
            box("iinf", [1, 0, 0, 0] + many), box("iloc", [2, 0, 0, 0, 0x44, 0] + many), box("iref", full + properties),
            box("iprp", box("ipco", properties)), box("iprp", box("ipma", full + many)),
            box("iref", full + box("dimg", [0, 1, 4, 0] + [UInt8](repeating: 0, count: 2048))),
            box("iref", [1, 0, 0, 0] + box("dimg", [0, 0, 0, 1, 4, 0] + [UInt8](repeating: 0, count: 4096))),
            // Two items with 1,025 places that take no bytes, in the old version and in the one with a method and an index
            box("iloc", full + [0, 0, 0, 2] + [0, 1, 0, 0, 4, 0] + [0, 2, 0, 0, 0, 1]),
            box("iloc", [1, 0, 0, 0, 0, 0, 0, 2] + [0, 1, 0, 0, 0, 0, 4, 0] + [0, 2, 0, 0, 0, 0, 0, 1]),
        ]
        for file in bodies.map({ head + box("meta", full + $0) }) {
            // Then
            XCTAssertThrowsError(try header(file)) {
                XCTAssertEqual($0 as? CodecError, .unsupported("AVIF of more than 1024 items"))
            }
        }
        XCTAssertThrowsError(try header(head + box("moov", box("trak", box("tkhd", []) + box("meta", full))))) {
            XCTAssertEqual($0 as? CodecError, .unsupported("AVIF of items in a track"))
        }
        XCTAssertThrowsError(try header(head + box("moov", [UInt8](repeating: 0, count: 262_145)))) {
            XCTAssertEqual($0 as? CodecError, .unsupported("AVIF of very many images"))
        }
    }

    func testThatDamagedBoxesAreLeftToTheLibrary() throws {
        // Given
        let file = try file()
        for end in 0..<min(file.count, 400) {
            // When the existing boxes are read
            do {
                _ = try header(Array(file[..<end]))
            } catch CodecError.unsupported(let what) {
                // Then no file counts as one of very many pictures
                XCTFail("\(end) bytes: \(what)")
            } catch {}
        }
    }

    func testThatADeadlineThatHasPassedEndsTheWork() throws {
        let clock = LookedAtClock()
        let file = try file()
        XCTAssertThrowsError(try codec.picture(file, DecodeRequest(deadline: clock.deadline(after: 0))).layout) {
            XCTAssertEqual($0 as? CodecError, .timedOut)
        }
        XCTAssertThrowsError(try self.file(EncodeOptions(deadline: clock.deadline(after: 0)))) {
            XCTAssertEqual($0 as? CodecError, .timedOut)
        }
        XCTAssertGreaterThan(codec.memoryToDecode(try header(file)), 24 * 16 * 16)
    }

    func testThatTheCodePointsOfSRGBAreSRGB() throws {
        XCTAssertEqual(try header(try file(primaries: 1, transfer: 13)).colors, .sRGB)
        XCTAssertEqual(try header(try file(primaries: 2, transfer: 2)).colors, .sRGB)
        XCTAssertEqual(try header(try file(primaries: 1, transfer: 1)).colors, .sRGB)
    }

    func testThatOtherPrimariesAreTold() throws {
        // When
        let colors = try header(try file(primaries: 12, transfer: 13)).colors

        // Then
        guard case .primaries(let primaries) = colors else { return XCTFail("\(colors)") }
        XCTAssertEqual(primaries.green, [0.265, 0.690])
    }

    func testThatLinearLightIsTold() throws {
        XCTAssertEqual(try header(try file(primaries: 1, transfer: 8)).colors, .gamma(1, chromaticities: nil))
    }

    func testRareTransferFunctionsAreThatOfSRGB() throws {
        for transfer in [7, 9, 10, 11, 12, 17, 200] as [UInt8] {
            XCTAssertEqual(try header(try file(primaries: 1, transfer: transfer)).colors, .sRGB)
        }
    }

    func testFilesWithoutPixiAreRead() throws {
        // Given a file whose depth is only in its stream
        let whole = try file()
        var bytes = whole
        let place = try XCTUnwrap(bytes.indices.first { bytes[$0...].starts(with: Array("pixi".utf8)) })
        bytes.replaceSubrange(place..<place + 4, with: Array("free".utf8))
        // When, then
        assertImagesSimilar(try codec.picture(bytes), try codec.picture(whole), within: 0)
    }

    func testAnImpossibleCleanApertureIsNone() throws {
        // Given a file whose profile is replaced by a property of the same size: width, height and two offsets, as fractions
        let whole = try file(EncodeOptions(quality: 95, profile: [UInt8](repeating: 1, count: 28)))
        for values in [
            [25, 1, 16, 1, 0, 1, 0, 1], [81, 2, 16, 1, 0, 1, 0, 1], [24, 0, 16, 1, 0, 1, 0, 1], [0, 1, 16, 1, 0, 1, 0, 1],
            [24, 1, 16, 1, 9, 1, 0, 1],
        ] {
            var bytes = whole
            let places = bytes.indices.filter { bytes[$0...].starts(with: Array("colrprof".utf8)) }
            XCTAssertEqual(places.count, 1)
            let aperture = values.flatMap { [0, 0, 0, UInt8($0)] as [UInt8] }
            bytes.replaceSubrange(places[0]..<places[0] + 36, with: Array("clap".utf8) + aperture)
            try markEssential(&bytes, propertyAt: places[0] - 4)
            // When, then it has all its pixels
            let header = try header(bytes)
            XCTAssertEqual([header.width, header.height], [24, 16], "\(values)")
            assertImagesSimilar(try codec.picture(bytes), try codec.picture(whole), within: 0)
        }
    }

    /// Says of the property that a reader has to know it (ISO/IEC 23008-12 §9.3).
    private func markEssential(_ bytes: inout [UInt8], propertyAt place: Int) throws {
        func start(_ name: String) throws -> Int {
            try XCTUnwrap(bytes.indices.first { bytes[$0...].starts(with: Array(name.utf8)) }) + 4
        }
        var (position, index) = (try start("ipco"), UInt8(1))
        while position < place {
            position += bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            index += 1
        }
        XCTAssertEqual(position, place)
        // Version, flags, one item, its number, and as many associations as a byte says
        let associations = try start("ipma") + 10
        for place in associations + 1...associations + Int(bytes[associations]) where bytes[place] & 0x7F == index {
            bytes[place] |= 0x80
        }
    }

    func testThatHighDynamicRangeIsRefusedByName() throws {
        for (transfer, name) in [(16, "PQ"), (18, "HLG")] {
            XCTAssertThrowsError(try header(try file(primaries: 9, transfer: UInt8(transfer)))) {
                XCTAssertEqual($0 as? CodecError, .unsupported("the transfer function \(name) (high dynamic range)"))
            }
        }
    }

    func testThatMoreQualityTakesMoreBytes() throws {
        XCTAssertLessThan(try file(EncodeOptions(quality: 20)).count, try file(EncodeOptions(quality: 95)).count)
    }

    func testThatTheSampleIsUnderstood() throws {
        // Given the lines of the sample, which has no nesting
        let lines = AVIFCodec.sampleConfiguration.split(separator: "\n").filter { !$0.hasPrefix("#") }
        var keys = Dictionary(
            uniqueKeysWithValues: lines.map { line -> (String, ConfigurationValue) in
                let parts = line.split(separator: ": ", maxSplits: 1)
                return (String(parts[0]), .scalar(String(parts[1])))
            })

        // When
        let type = keys.removeValue(forKey: "type")
        let configuration = try ConfigurationDecoder().decode(AVIFCodec.Configuration.self, from: .mapping(keys))

        // Then
        XCTAssertEqual(type, .scalar(AVIFCodec.type))
        XCTAssertEqual(configuration.effort, 2)
        XCTAssertNoThrow(try AVIFCodec(configuration, context: .forTesting()))
    }
}
