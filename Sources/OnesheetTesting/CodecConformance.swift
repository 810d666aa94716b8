internal import NIOCore
public import OnesheetCore

/// What every codec has to do, whatever its format. A plugin's tests run it; `report.failures` has to be empty.
public struct CodecConformance: Sendable {
    let codec: any Codec
    let kinds: [PixelLayout]
    let tolerance: Double
    let files: [[UInt8]]
    let profile: [UInt8]?
    let embedsEXIF: Bool
    let spareTail: Int
    let damages: Int

    /// - Parameters:
    ///   - encodes: what the codec encodes, as one layout of each kind; only model and alpha matter.
    ///   - tolerance: how far, on average over all samples, a picture may be from what was encoded; 0 for a format that loses nothing.
    ///   - files: more files of the format, such as another encoder's; they are damaged as the codec's own are.
    ///   - profile: an ICC profile for RGB that the format can embed; `nil` where it cannot.
    ///   - embedsEXIF: whether the codec writes and reads EXIF.
    ///   - spareTail: how many bytes at the end of a file say nothing about its pixels, so that it may do without them.
    ///   - damages: at how many places a file is damaged.
    public init(
        _ codec: any Codec, encodes kinds: [PixelLayout], tolerance: Double = 0, files: [[UInt8]] = [], profile: [UInt8]? = nil,
        embedsEXIF: Bool = true, spareTail: Int = 0, damages: Int = 400
    ) {
        self.codec = codec
        self.kinds = kinds
        self.tolerance = tolerance
        self.files = files
        self.profile = profile
        self.embedsEXIF = embedsEXIF
        self.spareTail = spareTail
        self.damages = damages
    }

    /// What one rule found.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
        public let rule: String
        /// What is wrong; `nil` where the rule holds.
        public let problem: String?

        public var description: String { problem.map { "✗ \(rule): \($0)" } ?? "✓ \(rule)" }
    }

    /// What all rules found.
    public struct Report: Sendable, CustomStringConvertible {
        public let findings: [Finding]

        public var failures: [Finding] { findings.filter { $0.problem != nil } }
        public var description: String { findings.map(\.description).joined(separator: "\n") }
    }

    /// A rule that does not hold.
    struct Violation: Error {
        let problem: String
        init(_ problem: String) { self.problem = problem }
    }

    /// Tries every rule.
    public func run() -> Report {
        let rules: [(String, () throws -> Void)] = [
            ("knows its own files and no others", sniffing),
            ("what was encoded comes back", roundTrip),
            ("header and rows agree", headerAgrees),
            ("a smaller picture is large enough", smallerPicture),
            ("pixels that the format cannot hold are refused", strangePixels),
            ("profile and EXIF come back", metadata),
            ("too many pixels are refused from the header", limits),
            ("what the sink throws is passed on at once", throwingSinks),
            ("a file that ends early is an error", truncation),
            ("a file that ends early is taken as far as it goes", acceptedTruncation),
            ("flipped bits are an error or a whole picture", flippedBits),
            ("any bytes are an error or a whole picture", noise),
        ]
        return Report(
            findings: rules.map { name, rule in
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

    // These two exist because the compiler (6.3.1) makes broken code of a span lent to an existential inside a loop.
    func recognizes(_ file: [UInt8]) -> Bool { codec.recognizes(file.span) }
    func header(of file: [UInt8]) throws(CodecError) -> ImageHeader { try codec.header(of: file.span) }

    /// Decodes into a collector, whose breaches of contract are violations.
    func decode(_ file: [UInt8], _ request: DecodeRequest = DecodeRequest(), failsAfter: Int? = nil) throws -> RowCollector {
        let (sink, error) = try attempt(file, request, failsAfter: failsAfter)
        if let error { throw error }
        guard sink.isComplete else { throw Violation("rows are missing, and no error says so") }
        return sink
    }

    /// Decodes, an error being an outcome too.
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
