import AVIFCodec
import FormatFixtures
import Foundation
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec
import WebPCodec

/// Small seed files of all kinds for the fuzzers.
enum FuzzSeeds {
    /// Writes a folder for each kind into `directory`.
    static func write(to directory: URL) throws {
        let poster = DrawnPoster(width: 33, height: 21)
        var progressive = JPEGCodec.Configuration()
        progressive.progressive = true
        let options = EncodeOptions(profile: DrawnProfile.displayP3, exif: EXIF.tiff(copyright: "A. Painter"))
        let jpegs = [
            try poster.file(JPEGCodec(), planes: (2, 2)), try poster.file(JPEGCodec(), planes: (1, 1), options: options),
            try poster.file(JPEGCodec(), planes: (4, 1)), try poster.file(JPEGCodec(progressive), planes: (2, 1)),
            try poster.file(JPEGCodec(), .gray), try poster.file(JPEGCodec(), .cmyk),
            try poster.file(JPEGCodec(), planes: (1, 1), options: EncodeOptions(profile: DrawnProfile.displayP3(stages: 20))),
            manySegments(try poster.file(JPEGCodec(), planes: (1, 1))),
        ]
        let pngs = [
            try poster.file(PNGCodec()), try poster.file(PNGCodec(), hasAlpha: true, options: options),
            try poster.file(PNGCodec(), .gray),
            try poster.file(PNGCodec(), .gray, hasAlpha: true),
            try DrawnPoster(width: 1, height: 3000).file(PNGCodec(), .gray),
        ]
        let webps = [
            try poster.file(WebPCodec(), .rgb, options: options), try poster.file(WebPCodec(lossless: true), hasAlpha: true),
            try poster.file(WebPCodec(), hasAlpha: true),
        ]
        let avifs = [
            try poster.file(AVIFCodec(effort: 0), .rgb, options: options), try poster.file(AVIFCodec(effort: 0), hasAlpha: true),
        ]
        let gifs = [
            DrawnGIF(width: 33, height: 21).file, DrawnGIF(width: 33, height: 21, isInterlaced: true, transparent: 3).file,
            DrawnGIF(width: 9, height: 7, place: (2, 3), canvas: (20, 12)).file,
        ]
        // The last byte chooses the corners: those of luma, and eight times those of chroma.
        let corners: [[UInt8]] = jpegs.enumerated().map { index, file in file + [UInt8(index * 9 % 64)] }
        let all = jpegs + pngs + webps + avifs + gifs
        let transform: [UInt8] = [1, 20, 30, 0, 0, 1, 6, 0, 0, 1, 7, 0, 3, 3, 1, 80]
        let folders: [(String, [[UInt8]])] = [
            ("jpeg", jpegs), ("jpeg-corner", corners), ("png", pngs), ("webp", webps), ("avif", avifs), ("gif", gifs),
            ("render", all.map { transform + $0 }), ("s3", FuzzS3.seeds.map { Array($0.utf8) }),
        ]
        for (folder, files) in folders + formats {
            let folder = directory.appendingPathComponent(folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (index, file) in files.enumerated() { try Data(file).write(to: folder.appendingPathComponent("seed-\(index)")) }
        }
    }

    /// Those of the decoders behind traits that are off by default.
    private static var formats: [(String, [[UInt8]])] {
        var folders: [(String, [[UInt8]])] = []
        #if TIFF
            var tiled = DrawnTIFF(width: 33, height: 21, alpha: .premultiplied, compression: .deflate)
            tiled.tile = (16, 16)
            var separate = DrawnTIFF(width: 33, height: 21, .cmyk, bits: 16, compression: .packBits)
            separate.isSeparate = true
            let fax = DrawnTIFF(width: 33, height: 21, .white0, bits: 1, compression: .fax4)
            let jpeg = DrawnTIFF(width: 33, height: 21, compression: .jpeg)
            let palette = DrawnTIFF(width: 33, height: 21, .palette, bits: 4)
            folders.append(("tiff", [tiled, separate, fax, jpeg, palette].map(\.file)))
        #endif
        #if HEIC
            let heics = [DrawnHEIC(width: 64, height: 64), DrawnHEIC(width: 33, height: 21, hasAlpha: true)]
            let grid = DrawnHEICGrid(columns: 2, rows: 2, width: 100, height: 90)
            folders.append(("heic", heics.map(\.file) + [grid.file]))
        #endif
        #if JXL
            var boxed = DrawnJPEGXL(width: 33, height: 21, hasAlpha: true)
            boxed.exif = EXIF.tiff(copyright: "A. Painter")
            let jxls = [
                boxed, DrawnJPEGXL(width: 33, height: 21, isLossless: false), DrawnJPEGXL(width: 33, height: 21, isGray: true),
            ]
            folders.append(("jxl", jxls.map(\.file)))
        #endif
        return folders
    }

    /// The file with a few hundred empty segments before all others.
    private static func manySegments(_ file: [UInt8]) -> [UInt8] {
        Array(file[..<2] + [[UInt8]](repeating: [0xFF, 0xE1, 0, 2], count: 300).joined() + file[2...])
    }
}
