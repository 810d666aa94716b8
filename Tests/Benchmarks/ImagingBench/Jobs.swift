import Foundation
import JPEGCodec
import Logging
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetIsolation
import PNGCodec

/// One measured job.
struct Job {
    let name: String
    let original: String
    let widths: [Int]
    let format: ImageFormat
}

/// The jobs and their runner.
struct Jobs {
    static let all: [Job] = [
        Job(name: "large-w342", original: "large", widths: [342], format: .jpeg),
        Job(name: "large-w500", original: "large", widths: [500], format: .jpeg),
        Job(name: "large-w780", original: "large", widths: [780], format: .jpeg),
        Job(name: "small-w185", original: "small", widths: [185], format: .jpeg),
        Job(name: "small-w342", original: "small", widths: [342], format: .jpeg),
        Job(name: "progressive-w342", original: "progressive", widths: [342], format: .jpeg),
        Job(name: "progressive-w500", original: "progressive", widths: [500], format: .jpeg),
        Job(name: "full-color-w342", original: "full-color", widths: [342], format: .jpeg),
        Job(name: "full-color-w500", original: "full-color", widths: [500], format: .jpeg),
        Job(name: "png-w342-jpeg", original: "picture", widths: [342], format: .jpeg),
        Job(name: "png-w342-png", original: "picture", widths: [342], format: .png),
        Job(name: "clear-w342-png", original: "clear", widths: [342], format: .png),
        Job(name: "ladder", original: "large", widths: [780, 500, 342, 185, 154, 92], format: .jpeg),
    ]

    private let originals: Originals
    private let renderer: Renderer
    private let isolated: IsolatedRenderer?

    init(_ originals: Originals) {
        self.originals = originals
        let (renderer, logger) = (Renderer(codecs: [JPEGCodec(), PNGCodec()], limits: Limits()), Logger(label: "bench"))
        self.renderer = renderer
        isolated = RenderProgram.command.map { command in
            IsolatedRenderer(
                command, renderer: renderer, settings: ProcessSettings(of: renderer, limits: Limits(), codecs: [:]),
                fatal: FatalOriginals(path: nil, clock: .system, logger: logger), lost: LostProcesses(), logger: logger)
        }
    }

    func render(_ job: Job, _ original: ByteBuffer, with engine: (any PictureEngine)? = nil) throws -> [RenderedImage] {
        let transforms = job.widths.map { width in
            var transform = Transform()
            (transform.width, transform.format) = (width, job.format)
            return transform
        }
        // Each picture is another one.
        let file = PictureFile(bytes: original, validator: "\(next())", origin: job.original)
        return try (engine ?? renderer).render(file, as: transforms, predicted: RenderCost(milliseconds: 1000, bytes: 0))
    }

    /// Prints the seconds per run, of processors and on the clock, for `JOB REPEATS`, for the floor with `floor:JOB REPEATS`, and in a
    /// process with `process:JOB REPEATS`.
    func serve() throws {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 2, let repeats = Int(words[1]) else { continue }
            let isFloor = words[0].hasPrefix("floor:")
            let isIsolated = words[0].hasPrefix("process:")
            let name = isFloor ? String(words[0].dropFirst(6)) : isIsolated ? String(words[0].dropFirst(8)) : words[0]
            guard let job = Self.all.first(where: { $0.name == name }) else { continue }
            let original = try originals.read(job.original)
            let floor: Floor? = isFloor ? try Floor(original, try render(job, original)[0]) : nil
            // Starts the process.
            if isIsolated { _ = try render(job, original, with: isolated) }
            let (start, begun) = (Self.cpu(), ContinuousClock.now)
            for _ in 0..<repeats {
                if let floor { try floor.run() } else { _ = try render(job, original, with: isIsolated ? isolated : nil) }
            }
            let clock = (ContinuousClock.now - begun) / .seconds(1)
            let times = [Self.cpu() - start, clock].map { "\($0 / Double(repeats))" }
            FileHandle.standardOutput.write(Data((times.joined(separator: " ") + "\n").utf8))
        }
    }

    func write(to directory: URL) throws {
        for job in Self.all {
            let image = try render(job, try originals.read(job.original))[0]
            let file = directory.appendingPathComponent("\(job.name).ours.\(image.format.extensions[0])")
            try Data(image.body.readableBytesView).write(to: file)
        }
    }

    /// Renders the huge poster and prints the peak growth of the process in bytes.
    func peak() throws {
        let original = try originals.read("huge")
        // Resets the peak (Linux, proc(5)).
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        let before = try Self.resident("VmRSS:")
        _ = try render(Job(name: "huge", original: "huge", widths: [342], format: .jpeg), original)
        print("6000 × 9000 to w342, peak above idle: \((try Self.resident("VmHWM:") - before) >> 10) KiB")
    }

    /// A new validator.
    private func next() -> UInt64 { .random(in: 0...UInt64.max) }

    /// The processor time of this process and of those that it has started.
    private static func cpu() -> Double {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let children = threads.flatMap { thread in
            let text = (try? String(contentsOfFile: "/proc/self/task/\(thread)/children", encoding: .utf8)) ?? ""
            return text.split(separator: " ").compactMap { pid_t($0) }
        }
        return ([getpid()] + children).reduce(0) { sum, process in
            var (clock, time) = (clockid_t(), timespec())
            guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return sum }
            return sum + Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
    }

    /// A memory figure of the process in bytes (Linux).
    private static func resident(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 * 1024 } ?? 0
    }
}
