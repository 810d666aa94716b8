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
        (kinds, tolerance, profile, embedsEXIF) = ([], 0, nil, false)
        (self.files, self.spareTail, self.damages) = (files, spareTail, damages)
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
}
