import Logging
import NIOCore
import OnesheetCore
import OnesheetImaging
import Synchronization

/// The render processes of one configuration. They start when they are needed and stay, but an idle one ends for a new
/// one if a server may have no more. Each is replaced after many pictures.
final class RenderProcessPool: Sendable {
    private struct Idle {
        let process: RenderProcess
        var questions: Int
    }

    private struct State {
        var idle: [Idle] = []
        var running = 0
        var failures = 0
        var pauses = RenderProcessPool.pauses
        var nextStart = ContinuousClock.now
        var hasEnded = false
    }

    /// A process in use.
    struct Place {
        let process: RenderProcess
        /// The questions that it has answered.
        let questions: Int
    }

    /// A process is replaced after this many questions, or this much processor time: a tenth of its limit.
    private static let mostQuestions = 20_000
    private static let mostWork = Duration.seconds(ProcessBounds.seconds / 10)
    /// Check processor time every 100 questions.
    private static let questionsPerLook = 100
    /// The time in which a process gets ready, on a machine that is very busy. An inspection waits hardly longer.
    private static let startTime = Duration.milliseconds(4500)
    /// After this many failures in a row, the server is not ready.
    private static let fewFailures = 3
    /// The pauses between attempts if processes keep failing to start: 0.1 s, 0.2 s … 30 s.
    private static let pauses = Backoff(from: .milliseconds(100), upTo: .seconds(30))

    /// Two threads inspect, beside those that render.
    private static let inspecting = 2
    /// The processes beside one for each worker: those that inspect, and one for a short render that passes long ones.
    static let besideWorkers = inspecting + 1

    private let command: ProcessCommand
    private let settings: ProcessSettings
    private let formats: [ImageFormat]
    private let logger: Logger
    private let starter = ProcessStarter()
    private let state = Mutex(State())

    init(_ command: ProcessCommand, _ settings: ProcessSettings, formats: [ImageFormat], logger: Logger) {
        self.command = command
        self.settings = settings
        self.formats = formats
        self.logger = logger
    }

    deinit { shutdown() }

    /// Whether processes can be started, as far as is known.
    var isReady: Bool { state.withLock { $0.failures < Self.fewFailures } }

    /// The processes that run.
    var count: Int { state.withLock { $0.running } }

    /// An idle process, or a new one.
    /// - Throws: `RenderError.noProcess`.
    func acquire() throws(RenderError) -> Place {
        while let idle = state.withLock({ $0.idle.popLast() }) {
            guard idle.process.isUnusable else { return Place(process: idle.process, questions: idle.questions) }
            discard(idle.process)
        }
        return try acquireNew()
    }

    /// A process that has seen no picture.
    func acquireNew() throws(RenderError) -> Place { Place(process: try start(), questions: 0) }

    /// Keeps a process for the next question, and gives up idle ones that have ended.
    func release(_ place: Place) {
        let questions = place.questions + 1
        let isOld =
            questions >= Self.mostQuestions
            || (questions % Self.questionsPerLook == 0 && place.process.processorTime > Self.mostWork)
        let ended = state.withLock { state in
            // Those that were killed meanwhile would stay as zombies until they are needed.
            var ended = state.idle.filter(\.process.isUnusable).map(\.process)
            if !ended.isEmpty { state.idle.removeAll { idle in ended.contains { $0 === idle.process } } }
            if !state.hasEnded, !isOld, state.idle.count < settings.limits.workers + Self.inspecting {
                state.idle.append(Idle(process: place.process, questions: questions))
            } else {
                ended.append(place.process)
            }
            return ended
        }
        for process in ended { discard(process) }
    }

    /// Ends a process that was lost in use.
    /// - Parameter seen: how the loss showed.
    /// - Returns: the reason.
    func discard(_ place: Place, _ seen: ProcessLoss) -> ProcessLoss {
        state.withLock { $0.running -= 1 }
        return place.process.end(seen)
    }

    private func discard(_ process: RenderProcess) {
        process.end()
        state.withLock { $0.running -= 1 }
    }

    /// Starts as many processes as render at a time, unless they run. A failure is logged.
    func warmUp() {
        let running = count
        for _ in running..<max(settings.limits.workers, running) {
            guard let process = try? start() else { return }
            release(Place(process: process, questions: 0))
        }
    }

    /// Ends the idle processes, and those in use after their question. A question that comes later has a process of its own.
    func shutdown() {
        let idle = state.withLock { state in
            state.hasEnded = true
            defer { state.idle = [] }
            return state.idle
        }
        for one in idle { discard(one.process) }
    }

    /// A process that is killed from outside before it is ready is replaced at once.
    private func startDespiteKills() throws(ProcessStartError) -> RenderProcess {
        var kills = 0
        while true {
            do throws(ProcessStartError) {
                return try RenderProcess(command, settings, startedBy: starter, formats: formats, within: Self.startTime)
            } catch {
                kills += 1
                guard case .ended(.killed, _) = error, kills <= ProcessBounds.mostKills else { throw error }
            }
        }
    }

    /// A new process, unless the pause after a failure is not over. If a server may have no more, the one that has been idle longest ends first.
    private func start() throws(RenderError) -> RenderProcess {
        let now = ContinuousClock.now
        let (pause, replaced) = state.withLock { state -> (Duration?, Idle?) in
            guard now >= state.nextStart else { return (state.nextStart - now, nil) }
            if state.running >= settings.limits.workers + Self.besideWorkers, !state.idle.isEmpty {
                return (nil, state.idle.removeFirst())
            }
            state.running += 1
            return (nil, nil)
        }
        replaced?.process.end()
        if let pause { throw .noProcess(retryAfter: max(Int((pause / .seconds(1)).rounded(.up)), 1)) }
        do throws(ProcessStartError) {
            let process = try startDespiteKills()
            state.withLock { state in
                state.failures = 0
                state.pauses = Self.pauses
            }
            return process
        } catch {
            let failures = state.withLock { state in
                state.running -= 1
                state.failures += 1
                state.nextStart = .now + state.pauses.next()
                return state.failures
            }
            logger.error(
                "a render process cannot be started: \(error)",
                metadata: ["attempts": "\(failures)", "help": "rendering.isolation: thread renders without processes"])
            throw .noProcess(retryAfter: 1)
        }
    }
}
