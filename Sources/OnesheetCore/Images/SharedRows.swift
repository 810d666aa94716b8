/// Passes one picture on to several sinks.
public struct SharedRows<Sink: RowSink>: RowSink {
    public private(set) var sinks: [Sink]

    public init(_ sinks: [Sink]) { self.sinks = sinks }

    public mutating func begin(_ layout: PixelLayout) throws(CodecError) {
        for index in sinks.indices { try sinks[index].begin(layout) }
    }

    public mutating func row(_ samples: Span<UInt8>, plane: Int, y: Int) throws(CodecError) {
        // A range of numbers: `indices` of an array of any sink is looked up at run time, for each row.
        for index in 0..<sinks.count { try sinks[index].row(samples, plane: plane, y: y) }
    }

    public mutating func row(_ samples: Span<UInt8>, variances: Span<UInt16>, y: Int) throws(CodecError) {
        for index in 0..<sinks.count { try sinks[index].row(samples, variances: variances, y: y) }
    }
}

extension ImageDecoder {
    /// Decodes once for all requests that get the same picture, one picture after the other.
    ///
    /// - Parameter pictures: an element for each request. Equal elements stand for requests to which `decode` delivers the same rows.
    public func decode<Sink: RowSink, Picture: Equatable>(
        _ bytes: Span<UInt8>, _ requests: [DecodeRequest], pictures: [Picture], into sinks: inout [Sink]
    ) throws(CodecError) {
        precondition(requests.count == sinks.count && requests.count == pictures.count, "each request has a sink and a picture")
        for first in pictures.indices where pictures.firstIndex(of: pictures[first]) == first {
            let places = pictures.indices.filter { pictures[$0] == pictures[first] }
            try decode(bytes, requests[first], into: &sinks, at: places)
        }
    }

    private func decode<Sink: RowSink>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sinks: inout [Sink], at places: [Int]
    ) throws(CodecError) {
        var shared = SharedRows(places.map { sinks[$0] })
        try decode(bytes, request, into: &shared)
        for (sink, place) in zip(shared.sinks, places) { sinks[place] = sink }
    }
}
