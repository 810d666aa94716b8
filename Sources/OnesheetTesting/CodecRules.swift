internal import NIOCore
internal import OnesheetCore

extension CodecConformance {
    func sniffing() throws {
        for file in try everyFile() {
            guard recognizes(file) else { throw Violation("does not know a file that it can read") }
        }
        let others: [String: [UInt8]] = [
            "nothing": [], "a zero": [0], "text": Array("<!doctype html><html>".utf8), "zeros": [UInt8](repeating: 0, count: 64),
            "jpeg": [0xFF, 0xD8, 0xFF, 0xE0] + Array("\0\u{10}JFIF\0".utf8),
            "png": [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13], "gif": Array("GIF89a\u{1}\0\u{1}\0".utf8),
            "webp": Array("RIFF\u{10}\0\0\0WEBPVP8L".utf8), "avif": [0, 0, 0, 20] + Array("ftypavif\0\0\0\0avif".utf8),
        ]
        for (name, bytes) in others where name != codec.format.name {
            guard !recognizes(bytes) else { throw Violation("takes \(name) for \(codec.format)") }
        }
    }

    func roundTrip() throws {
        for kind in kinds {
            for (width, height) in Self.sizes {
                let picture = try picture(kind, width: width, height: height)
                let original = try samples(of: picture)
                let file = try encoded(picture, EncodeOptions(quality: 95))
                let decoded = try decode(file)
                let (before, after) = (original.rgba ?? original.planes[0], decoded.rgba ?? decoded.planes[0])
                guard before.count == after.count else { throw Violation("\(width) × \(height) comes back in another size") }
                guard !kind.isPlanar else { continue }
                let distance = zip(before, after).reduce(0.0) { $0 + abs(Double($1.0) - Double($1.1)) } / Double(before.count)
                guard distance <= tolerance else {
                    throw Violation("\(width) × \(height) \(kind.model) comes back \(distance) off on average")
                }
            }
        }
    }

    func headerAgrees() throws {
        for file in try everyFile() {
            let header = try header(of: file)
            let layout = try decode(file).layout
            guard header.format == codec.format else { throw Violation("the header is of \(header.format)") }
            guard header.width == layout?.width, header.height == layout?.height, header.hasAlpha == layout?.hasAlpha else {
                throw Violation("\(header) and \(String(describing: layout))")
            }
        }
    }

    func smallerPicture() throws {
        for file in try kinds.map({ try file($0, width: 65, height: 48) }) + files {
            let header = try header(of: file)
            let (full, high) = (header.width, header.height)
            let (half, middle) = (full / 2 + 1, high / 2)
            let sizes = [(0, 0), (1, 1), (half, middle), (half, middle + 1), (full - 1, 1), (full, high), (full * 16, 1)]
            for (width, height) in sizes {
                var request = DecodeRequest(minimumWidth: width, minimumHeight: height)
                for acceptsPlanar in [false, true] {
                    request.acceptsPlanar = acceptsPlanar
                    guard let layout = try decode(file, request).layout else { continue }
                    guard layout.width >= min(width, full), layout.height >= min(height, high), layout.width <= full,
                        layout.height <= high
                    else {
                        throw Violation(
                            "\(layout.width) × \(layout.height) of \(full) × \(high) for at least \(width) × \(height)")
                    }
                    guard acceptsPlanar || !layout.isPlanar else { throw Violation("planes that were not asked for") }
                }
            }
        }
    }

    func severalRequests() throws {
        for file in try kinds.map({ try file($0, width: 65, height: 48) }) + files {
            let header = try header(of: file)
            for acceptsPlanar in [false, true] {
                let requests = [2, 1, 4, 7, 16, 2, 3].map { (part: Int) in
                    let (width, height) = (Double(header.width) / Double(part), Double(header.height) / Double(part))
                    return DecodeRequest(
                        minimumWidth: Int(width), minimumHeight: Int(height),
                        target: DecodeRequest.Target(width: width / 2, height: height / 2, chroma: acceptsPlanar ? 2 : 1),
                        acceptsPlanar: acceptsPlanar)
                }
                let (together, error) = attempt(file, requests)
                if let error { throw error }
                for (request, sink) in zip(requests, together) {
                    let alone = try decode(file, request)
                    if let breach = sink.breaches.first { throw Violation("the decoder breaks the sink's contract: \(breach)") }
                    guard sink.isComplete, alone.layout == sink.layout, alone.planes == sink.planes else {
                        throw Violation("other rows beside others for at least \(request.minimumWidth) × \(request.minimumHeight)")
                    }
                    guard codec.scales || alone.layout?.width == header.width else { throw Violation("scales without saying so") }
                }
                let part = Array(file.prefix(file.count / 2))
                let alone = try requests.map { try attempt(part, $0).error }
                guard alone.contains(attempt(part, requests).error) else {
                    throw Violation("half of a file has another error for several requests")
                }
            }
        }
    }

    func strangePixels() throws {
        let all = [
            PixelLayout(width: 1, height: 1, model: .gray), PixelLayout(width: 1, height: 1, model: .gray, hasAlpha: true),
            PixelLayout(width: 1, height: 1, model: .rgb), PixelLayout(width: 1, height: 1, model: .rgb, hasAlpha: true),
            PixelLayout(width: 1, height: 1, model: .cmyk), PixelLayout(width: 1, height: 1, planarWithSubsampling: 2, 2),
        ]
        for layout in all where !kinds.contains(where: { $0.sized(1, 1) == layout }) {
            do {
                _ = try file(layout, width: 8, height: 8)
                throw Violation("\(layout.model) (alpha: \(layout.hasAlpha)) is not listed as encoded, but is encoded")
            } catch CodecError.unsupported {}
        }
    }

    func metadata() throws {
        guard let kind = kinds.last(where: { $0.model == .rgb }) else { return }
        var options = EncodeOptions()
        guard try header(of: try file(kind, width: 9, height: 7, options)).colors == .sRGB else {
            throw Violation("a file without a profile is not sRGB")
        }
        if embedsEXIF {
            // One entry: orientation 6, in big-endian order.
            options.exif = Array("MM\0*\0\0\0\u{8}\0\u{1}\u{1}\u{12}\0\u{3}\0\0\0\u{1}\0\u{6}\0\0\0\0\0\0".utf8)
            let header = try header(of: try file(kind, width: 9, height: 7, options))
            // Where browsers ignore an orientation, it is taken out, so that it turns no file of another format.
            let isTakenOut = header.orientation == .up && header.exif == options.exif.map(EXIF.upright(tiff:))
            guard header.orientation == .right || isTakenOut else {
                throw Violation("the file has the orientation \(header.orientation)")
            }
            guard header.width == 9, header.height == 7 else { throw Violation("sides are not as stored") }
        }
        if let profile {
            options.profile = profile
            let header = try header(of: try file(kind, width: 9, height: 7, options))
            guard header.colors == .icc(profile) else { throw Violation("the decoded file has another profile") }
        }
    }
}
