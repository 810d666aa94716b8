internal import NIOCore
public import OnesheetCore

/// The rules that every codec and every decoder has to follow. The tests of a plugin run them; `report.failures` has to be empty.
public struct CodecConformance: Sendable {
    let codec: any ImageDecoder
    /// `nil` for a format that is only read.
    let encoder: (any Codec)?
    let kinds: [PixelLayout]
    let tolerance: Double
    let files: [[UInt8]]
    let profile: [UInt8]?
    let embedsEXIF: Bool
    let spareTail: Int
    let damages: Int

    /// - Parameters:
    ///   - encodes: the layouts that the codec encodes, one of each kind; only model and alpha matter.
    ///   - tolerance: the greatest average difference between a picture and its decoded form over all samples; 0 for a lossless
    ///     format.
    ///   - files: more files of the format, for example by another encoder. They are damaged like the codec's own.
    ///   - profile: an ICC profile for RGB that the format can embed; `nil` if it cannot.
    ///   - embedsEXIF: whether the codec writes and reads EXIF.
    ///   - spareTail: bytes at the end of a file that do not affect its pixels and may be missing.
    ///   - damages: the number of positions at which a file is damaged.
    public init(
        _ codec: any Codec, encodes kinds: [PixelLayout], tolerance: Double = 0, files: [[UInt8]] = [], profile: [UInt8]? = nil,
        embedsEXIF: Bool = true, spareTail: Int = 0, damages: Int = 400
    ) {
        self.codec = codec
        encoder = codec
        self.kinds = kinds
        self.tolerance = tolerance
        self.files = files
        self.profile = profile
        self.embedsEXIF = embedsEXIF
        self.spareTail = spareTail
        self.damages = damages
    }

    /// The rules for a decoder of a format that is only read.
    ///
    /// - Parameters:
    ///   - files: files of the format, each with more than one row and column.
    ///   - spareTail: bytes at the end of a file that do not affect its pixels and may be missing.
    ///   - damages: the number of positions at which a file is damaged.
    public init(decoder: any ImageDecoder, files: [[UInt8]], spareTail: Int = 0, damages: Int = 400) {
        codec = decoder
        encoder = nil
        kinds = []
        tolerance = 0
        profile = nil
        embedsEXIF = false
        self.files = files
        self.spareTail = spareTail
        self.damages = damages
    }

    public typealias Finding = ConformanceFinding
    public typealias Report = ConformanceReport
    typealias Violation = ConformanceViolation

    /// Tries every rule.
    public func run() -> Report {
        let encoding: [(String, () throws -> Void)] = [
            ("an encoded picture decodes to the same picture", roundTrip),
            ("pixels that the format cannot hold are refused", strangePixels),
            ("profile and EXIF come back", metadata),
        ]
        let decoding: [(String, () throws -> Void)] = [
            ("knows its own files and no others", sniffing),
            ("header and rows agree", headerAgrees),
            ("a smaller picture is large enough", smallerPicture),
            ("several requests get what each gets alone", severalRequests),
            ("too many pixels are refused from the header", limits),
            ("an error of the sink is thrown immediately", throwingSinks),
            ("a file that ends early is an error", truncation),
            ("a file that ends early is taken as far as it goes", acceptedTruncation),
            ("flipped bits are an error or a whole picture", flippedBits),
            ("any bytes are an error or a whole picture", noise),
        ]
        return Report(
            findings: (encoder == nil ? decoding : encoding + decoding).map { name, rule in
                do {
                    try rule()
                    return Finding(rule: name, problem: nil)
                } catch let violation as Violation {
                    return Finding(rule: name, problem: violation.problem)
                } catch {
                    return Finding(rule: name, problem: "threw “\(error)”")
                }
            })
    }

    // These two exist because the compiler (6.3.1) generates wrong code if a span is passed to an existential inside a loop.
    func recognizes(_ file: [UInt8]) -> Bool { codec.recognizes(file.span) }
    func header(of file: [UInt8]) throws(CodecError) -> ImageHeader { try codec.header(of: file.span) }

    /// Decodes into a collector and reports its violations of the contract.
    func decode(_ file: [UInt8], _ request: DecodeRequest = DecodeRequest(), failsAfter: Int? = nil) throws -> RowCollector {
        let (sink, error) = try attempt(file, request, failsAfter: failsAfter)
        if let error { throw error }
        guard sink.isComplete else { throw Violation("rows are missing, and no error says so") }
        return sink
    }

    /// Decodes for several requests at once; an error is a possible result.
    func attempt(_ file: [UInt8], _ requests: [DecodeRequest]) -> (sinks: [RowCollector], error: CodecError?) {
        var sinks = requests.map { _ in RowCollector() }
        do throws(CodecError) {
            try codec.decode(file.span, requests, into: &sinks)
            return (sinks, nil)
        } catch {
            return (sinks, error)
        }
    }

    /// Decodes; an error is a possible result.
    func attempt(
        _ file: [UInt8], _ request: DecodeRequest = DecodeRequest(), failsAfter: Int? = nil
    ) throws -> (sink: RowCollector, error: CodecError?) {
        var sink = RowCollector(failsAfter: failsAfter)
        var failure: CodecError?
        do throws(CodecError) {
            try codec.decode(file.span, request, into: &sink)
        } catch {
            failure = error
        }
        if let breach = sink.breaches.first { throw Violation("the decoder breaks the sink's contract: \(breach)") }
        return (sink, failure)
    }

    /// Sizes that have caused bugs before: single pixels, rows and columns, odd ones, one more than a block.
    static let sizes = [(1, 1), (1, 9), (9, 1), (2, 3), (7, 5), (16, 16), (17, 33), (65, 48)]

    /// A picture of soft gradients, so that lossy formats lose little.
    func picture(_ kind: PixelLayout, width: Int, height: Int) throws(CodecError) -> PixelBuffer {
        let layout = kind.sized(width, height)
        var picture = try PixelBuffer(layout, limits: Limits())
        for (index, plane) in layout.planes.enumerated() {
            for y in 0..<plane.height {
                picture.withMutableRow(y, plane: index) { row in
                    for place in 0..<row.count {
                        row[place] = Self.sample(x: place / plane.channels, y: y, channel: index + place % plane.channels)
                    }
                }
            }
        }
        return picture
    }

    private static func sample(x: Int, y: Int, channel: Int) -> UInt8 {
        let slopes = [(3, 1), (1, 2), (2, 2), (2, 1)]
        let (right, down) = slopes[channel % 4]
        return UInt8(clamping: 20 + 30 * channel + right * x + down * y)
    }

    /// One file of each kind and size, and the given files.
    func everyFile() throws -> [[UInt8]] {
        var all = files
        for kind in kinds { all.append(try file(kind, width: 33, height: 21)) }
        return all
    }

    func file(_ kind: PixelLayout, width: Int, height: Int, _ options: EncodeOptions = EncodeOptions()) throws -> [UInt8] {
        try encoded(try picture(kind, width: width, height: height), options)
    }

    func encoded(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws -> [UInt8] {
        guard let encoder else { throw Violation("\(codec.format) is only read") }
        return Array(try encoder.encode(picture, options).readableBytesView)
    }

    /// The samples of a picture in the form of a collector.
    func samples(of picture: borrowing PixelBuffer) throws -> RowCollector {
        var collector = RowCollector()
        try collector.begin(picture.layout)
        for (index, plane) in picture.layout.planes.enumerated() {
            for y in 0..<plane.height {
                try picture.withRow(y, plane: index) { row throws(CodecError) in
                    try collector.row(row, plane: index, y: y)
                }
            }
        }
        return collector
    }
}

extension PixelLayout {
    /// The same kind of picture in another size.
    func sized(_ width: Int, _ height: Int) -> PixelLayout {
        isPlanar
            ? PixelLayout(width: width, height: height, planarWithSubsampling: subsampling.x, subsampling.y)
            : PixelLayout(width: width, height: height, model: model, hasAlpha: hasAlpha)
    }
}
