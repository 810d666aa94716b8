import Foundation
import JPEGCodec
import NIOCore
import OnesheetCore
import OnesheetTesting
import PNGCodec

/// The original pictures of the jobs, drawn once and stored as files.
struct Originals {
    let directory: URL

    func draw() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var configuration = JPEGCodec.Configuration()
        configuration.progressive = true
        let jpeg = JPEGCodec()
        let progressive = JPEGCodec(configuration)
        let quality = EncodeOptions(quality: 90)
        let large = DrawnPoster(width: 2000, height: 3000)
        let planes = try large.draw(planes: (2, 2))
        try write("large", jpeg.encode(planes, quality))
        try write("progressive", progressive.encode(planes, quality))
        try write("full-color", jpeg.encode(try large.draw(planes: (1, 1)), quality))
        let small = DrawnPoster(width: 1000, height: 1500, seed: 2)
        try write("small", jpeg.encode(try small.draw(planes: (2, 2)), quality))
        try write("picture", PNGCodec(effort: 4).encode(try small.draw(), EncodeOptions()))
        try write("clear", PNGCodec(effort: 4).encode(try small.draw(hasAlpha: true), EncodeOptions()))
        try write("huge", jpeg.encode(try DrawnPoster(width: 6000, height: 9000).draw(planes: (2, 2)), quality))
    }

    func read(_ name: String) throws -> ByteBuffer {
        ByteBuffer(bytes: try Data(contentsOf: directory.appendingPathComponent("\(name).original")))
    }

    private func write(_ name: String, _ body: ByteBuffer) throws {
        try Data(body.readableBytesView).write(to: directory.appendingPathComponent("\(name).original"))
    }
}
