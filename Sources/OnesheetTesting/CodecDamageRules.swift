internal import NIOCore
internal import OnesheetCore

extension CodecConformance {
    func limits() throws {
        for file in try everyFile() {
            let header = try header(of: file)
            let pixels = header.width * header.height
            _ = try decode(file, DecodeRequest(limits: Limits(pixels: pixels)))
            let (sink, error) = try attempt(file, DecodeRequest(limits: Limits(pixels: pixels - 1)))
            guard error == .tooManyPixels(width: header.width, height: header.height, limit: pixels - 1), sink.layout == nil else {
                throw Violation("\(pixels) pixels where \(pixels - 1) are allowed: \(error.map { "\($0)" } ?? "decoded")")
            }
        }
    }

    func throwingSinks() throws {
        for file in try everyFile() {
            let rows = try decode(file).rows.reduce(0, +)
            for calls in [0, 1, 2, rows / 2, rows] {
                let (_, error) = try attempt(file, failsAfter: calls)
                guard error == RowCollector.failure else {
                    throw Violation("after \(calls) calls: \(error.map { "\($0)" } ?? "no error")")
                }
            }
            // An error of the sink is not damage that could be accepted.
            let (_, error) = try attempt(file, DecodeRequest(acceptsTruncated: true), failsAfter: 2)
            guard error == RowCollector.failure else { throw Violation("swallowed where truncated files are accepted") }
        }
    }

    func truncation() throws {
        for file in try everyFile() {
            for end in Self.points(file.count - spareTail, all: damages * 4) {
                guard try attempt(Array(file[..<end])).error != nil else {
                    throw Violation("\(end) of \(file.count) bytes are decoded without an error")
                }
            }
        }
    }

    func acceptedTruncation() throws {
        let request = DecodeRequest(acceptsTruncated: true)
        for file in try everyFile() {
            for end in Self.points(file.count, all: damages * 4) {
                let (sink, error) = try attempt(Array(file[..<end]), request)
                guard error != nil || sink.isComplete else { throw Violation("\(end) of \(file.count) bytes: rows are missing") }
            }
        }
    }

    func flippedBits() throws {
        for file in try everyFile() {
            for place in Self.points(file.count, all: damages) {
                for bit in 0..<8 {
                    var damaged = file
                    damaged[place] ^= 1 << bit
                    try checkSanity(of: damaged, "bit \(bit) of byte \(place)")
                }
                // The largest numbers.
                var large = file
                for byte in place..<min(place + 8, file.count) { large[byte] = 0xFF }
                try checkSanity(of: large, "ones from byte \(place)")
            }
        }
    }

    func noise() throws {
        var random = SplitMix(seed: 42)
        for file in try everyFile() {
            for _ in 0..<(damages / 4) {
                var damaged = file
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let place = Int.random(in: 0..<file.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: damaged[place % damaged.count] = UInt8.random(in: 0...255, using: &random)
                    case 1: damaged.insert(UInt8.random(in: 0...255, using: &random), at: place % damaged.count)
                    default: if damaged.count > 1 { damaged.remove(at: place % damaged.count) }
                    }
                }
                try checkSanity(of: damaged, "noise")
            }
        }
    }

    /// For any bytes, the result is an error or a whole and small picture.
    private func checkSanity(of file: [UInt8], _ what: String) throws {
        let limits = Limits(pixels: 1_000_000)
        for acceptsTruncated in [false, true] {
            let (sink, error) = try attempt(file, DecodeRequest(acceptsTruncated: acceptsTruncated, limits: limits))
            guard error != nil || sink.isComplete else { throw Violation("\(what): rows are missing") }
        }
        var sides = [1, 1]
        do throws(CodecError) {
            let header = try header(of: file)
            sides = [header.width, header.height]
        } catch {}
        guard sides.allSatisfy({ $0 > 0 }) else { throw Violation("\(what): a header without pixels") }
    }

    /// Positions from 0 up to `count`: all of them if there are no more than `all`, else the first, the last and a sample in
    /// between.
    private static func points(_ count: Int, all: Int) -> [Int] {
        guard count > all else { return Array(0..<max(count, 0)) }
        let ends = Array(0..<(all / 3)) + Array((count - all / 3)..<count)
        return ends + stride(from: all / 3, to: count - all / 3, by: max(1, count / (all / 3)))
    }
}
