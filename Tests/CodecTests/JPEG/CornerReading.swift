import CJPEG
import OnesheetCore
import XCTest

/// The planes that the reader for shrinking, or the library, makes of a file, and the status at the end.
struct CornerReading: Equatable {
    var status = CJPEG_OK
    var eighths = 0
    var subsampling = [0, 0]
    var planes: [[[UInt8]]] = []
    /// What the corner leaves out around each sample of luma.
    var variances: [[UInt16]] = []

    private init() {}

    /// - Parameters:
    ///   - luma, chroma: the corners; 0 for the library, at the full size.
    init(_ file: [UInt8], luma: Int = 0, chroma: Int = 0, isPortable: Bool = false) throws {
        self = try Self.several(file, [(luma, chroma)], isPortable: isPortable)[0]
    }

    /// What one pass makes for all pairs of corners; the library's picture for each, if the reader for shrinking does not take the
    /// file.
    static func several(_ file: [UInt8], _ corners: [(luma: Int, chroma: Int)], isPortable: Bool = false) throws -> [CornerReading]
    {
        try file.withUnsafeBufferPointer { bytes in
            let reader = try XCTUnwrap(cjpeg_reader_new(bytes.baseAddress, bytes.count))
            defer { cjpeg_reader_free(reader) }
            var (header, request, hasStarted) = (cjpeg_header(), cjpeg_request(), false)
            var readings = corners.map { _ in CornerReading() }
            var layouts = corners.map { _ in cjpeg_layout() }
            func ending(_ status: cjpeg_status) -> [CornerReading] {
                for index in readings.indices {
                    if !hasStarted { readings[index] = readings[0] }
                    readings[index].status = status
                }
                return readings
            }
            var status = cjpeg_read_header(reader, &header)
            guard status == CJPEG_OK else { return ending(status) }
            (request.eighths, request.planar, request.portable) = (8, true, isPortable)
            (request.scans, request.memory) = (100, 64 << 20)
            let raw = corners.map { cjpeg_corners(luma: Int32($0.luma), chroma: Int32($0.chroma)) }
            status = cjpeg_start_corners(reader, request, raw, Int32(raw.count), &layouts, &hasStarted)
            if status == CJPEG_OK, !hasStarted { status = cjpeg_start(reader, request, &layouts) }
            guard status == CJPEG_OK else { return ending(status) }
            let count = hasStarted ? corners.count : 1
            for index in 0..<count { readings[index].begin(layouts[index]) }
            var rows = corners.map { _ in cjpeg_rows() }
            repeat {
                status = cjpeg_read(reader, &rows)
                guard status == CJPEG_OK else { return ending(status) }
                for index in 0..<count { readings[index].append(&rows[index], layouts[index]) }
            } while rows[0].count.0 > 0
            return ending(CJPEG_OK)
        }
    }

    private mutating func begin(_ layout: cjpeg_layout) {
        eighths = Int(layout.eighths)
        subsampling = [Int(layout.subsampling_x), Int(layout.subsampling_y)]
        planes = (0..<Int(layout.planes)).map { _ in [] }
    }

    private mutating func append(_ rows: inout cjpeg_rows, _ layout: cjpeg_layout) {
        let counts = [rows.count.0, rows.count.1, rows.count.2]
        withUnsafeBytes(of: &rows.variances) { bytes in
            for start in bytes.assumingMemoryBound(to: UnsafePointer<UInt16>?.self).prefix(Int(counts[0])) {
                if let start { variances.append(Array(UnsafeBufferPointer(start: start, count: Int(layout.width)))) }
            }
        }
        withUnsafeBytes(of: &rows.rows) { bytes in
            let starts = bytes.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)
            for plane in planes.indices {
                let width = plane == 0 ? Int(layout.width) : (Int(layout.width) + subsampling[0] - 1) / subsampling[0]
                for row in 0..<Int(counts[plane]) {
                    let start = starts[plane * Int(CJPEG_ROWS) + row]
                    planes[plane].append(Array(UnsafeBufferPointer(start: start, count: width)))
                }
            }
        }
    }

    /// The same without what is only estimated of a progressive file.
    var withoutVariances: CornerReading {
        var reading = self
        reading.variances = []
        return reading
    }

    /// The same picture from the lowest coefficients of each block of the full picture, computed in floating point: the plane with
    /// `corner` samples for each 8. Not a number where the full picture is cut off at black or white, which hides what the
    /// coefficients say.
    static func shrunk(_ plane: [[UInt8]], to corner: Int) -> [[Double]] {
        let (width, height) = (plane[0].count, plane.count)
        let columns = (width * corner + 7) / 8
        let rows = (height * corner + 7) / 8
        // From eight samples to the samples of the corner, in one direction.
        let weights = (0..<corner).map { x in
            (0..<8).map { i in
                (0..<corner).reduce(0.0) { sum, u in
                    let wave = { (place: Int, of: Int) in cos(Double((2 * place + 1) * u) * .pi / Double(2 * of)) }
                    return sum + (u == 0 ? 1 : 2) * wave(x, corner) * wave(i, 8) / 8
                }
            }
        }
        return (0..<rows).map { y in
            (0..<columns).map { x in
                var sum = 0.0
                for i in 0..<8 {
                    for j in 0..<8 {
                        let row = min(y / corner * 8 + i, height - 1)
                        let column = min(x / corner * 8 + j, width - 1)
                        let sample = plane[row][column]
                        let value = sample == 0 || sample == 255 ? Double.nan : Double(sample)
                        sum += weights[y % corner][i] * weights[x % corner][j] * value
                    }
                }
                return sum.isNaN ? sum : min(max(sum, 0), 255)
            }
        }
    }
}
