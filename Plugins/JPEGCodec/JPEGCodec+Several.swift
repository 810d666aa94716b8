import CJPEG
public import OnesheetCore

extension JPEGCodec {
    /// The reader for shrinking reads all pictures that it can in one pass: those with a target, of a common file. The library then
    /// reads the others, once for each of its scales.
    public func decode<Sink: RowSink>(
        _ bytes: Span<UInt8>, _ requests: [DecodeRequest], into sinks: inout [Sink]
    ) throws(CodecError) {
        guard requests.count > 1, requests.dropFirst().allSatisfy({ $0.withoutSize == requests[0].withoutSize }) else {
            return try decode(bytes, requests, pictures: requests, into: &sinks)
        }
        let (size, places) = try withReader(bytes) { reader throws(CodecError) in
            try requests[0].deadline.withWatch { watch throws(CodecError) in
                try reader.decodeSmall(requests, watch, into: &sinks)
            }
        }
        // The reader for shrinking is gone, so that one picture is decoded at a time.
        guard !places.isEmpty else { return }
        let large = places.map { requests[$0].withoutTarget }
        let scales = large.map { JPEGReader.eighths(width: size.width, height: size.height, for: $0) }
        var rest = places.map { sinks[$0] }
        try decode(bytes, large, pictures: scales, into: &rest)
        for (sink, place) in zip(rest, places) { sinks[place] = sink }
    }
}

extension JPEGReader {
    /// Decodes for all requests that the reader for shrinking serves, in one pass.
    /// - Precondition: the requests differ in their sizes only.
    /// - Returns: the file's size, and the places of the other requests.
    fileprivate borrowing func decodeSmall<Sink: RowSink>(
        _ requests: [DecodeRequest], _ watch: cjpeg_watch, into sinks: inout [Sink]
    ) throws(CodecError) -> (size: (width: Int, height: Int), others: [Int]) {
        let header = try readHeader(within: requests[0].limits)
        let size = (Int(header.width), Int(header.height))
        // The places of the requests for each pair of corners.
        var pictures: [(corners: cjpeg_corners, places: [Int])] = []
        var others: [Int] = []
        for (place, request) in requests.enumerated() {
            guard let corners = Self.corners(of: header, for: request) else {
                others.append(place)
                continue
            }
            if let known = pictures.firstIndex(where: { $0.corners.luma == corners.luma && $0.corners.chroma == corners.chroma }) {
                pictures[known].places.append(place)
            } else {
                pictures.append((corners, [place]))
            }
        }
        guard !pictures.isEmpty, let layouts = try start(pictures.map(\.corners), of: header, for: requests[0], watch: watch) else {
            return (size, Array(requests.indices))
        }
        for (picture, layout) in zip(pictures, layouts) {
            for place in picture.places { try sinks[place].begin(layout) }
        }
        var rows = [cjpeg_rows](repeating: cjpeg_rows(), count: pictures.count)
        while try next(&rows, of: header, requests[0]) {
            for (index, picture) in pictures.enumerated() {
                for place in picture.places {
                    try deliver(&rows[index], layouts[index], invertingInks: false, into: &sinks[place])
                }
            }
        }
        return (size, others)
    }
}

extension DecodeRequest {
    /// The request without a target: the library reads.
    fileprivate var withoutTarget: DecodeRequest {
        var request = self
        request.target = nil
        return request
    }

    /// What requests for several sizes of one picture have in common.
    fileprivate var withoutSize: DecodeRequest {
        var request = withoutTarget
        (request.minimumWidth, request.minimumHeight) = (0, 0)
        return request
    }
}
