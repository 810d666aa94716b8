public import OnesheetCore

/// A source in any language: a program that speaks JSON-RPC 2.0, one message per line, on standard input and output.
public struct ExecSource: SourcePlugin {
    public static let type = "exec"

    public let originPolicy: OriginPolicy
    private let supervisor: Supervisor
    private let context: PluginContext

    /// - Throws: `ConfigurationError` if there is no such program.
    public init(_ configuration: Configuration, context: PluginContext) throws {
        guard let program = configuration.command.first else {
            throw ConfigurationError(path: "command", message: "is empty; it is a program and its arguments")
        }
        _ = try ProgramLauncher.find(program)
        originPolicy = OriginPolicy(
            networks: configuration.networks, headers: configuration.headers, rate: configuration.rate, proxy: configuration.proxy)
        let launcher = ProgramLauncher(
            command: configuration.command, environment: configuration.environment,
            maxLine: min(configuration.answerBytes.bytes, context.limits.originBytes),
            limits: ProgramLimits(
                memory: configuration.memory.bytes, files: configuration.files, processorTime: configuration.processorTime?.duration
            ),
            logger: context.logger)
        supervisor = Supervisor(launcher: launcher, context: context, timeout: configuration.timeout.duration)
        self.context = context
    }

    init(launcher: any ChildLauncher, timeout: Duration = .seconds(10), context: PluginContext) {
        originPolicy = OriginPolicy()
        supervisor = Supervisor(launcher: launcher, context: context, timeout: timeout)
        self.context = context
    }

    public func shutdown() async { await supervisor.shutdown() }

    public func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage {
        var params: [String: JSONValue] = ["period": .string(query.period.rawValue), "page": .integer(query.page)]
        params["date"] = query.date.map { .string($0.description) }
        params["phrase"] = query.phrase.map(JSONValue.string)
        return try TitlePage(answer: try await supervisor.call("titles", params), context)
    }

    public func title(_ id: String) async throws(SourceError) -> Title {
        let title = try Title(answer: try await supervisor.call("title", ["id": .string(id)], title: id))
        guard title.id.isExactly(id) else {
            throw .malformedAnswer(
                reason: "the program answered with another title", details: "asked for “\(id)”, got “\(title.id)”")
        }
        return title
    }

    public func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        try PosterCandidate.list(answer: try await supervisor.call("candidates", ["id": .string(id)], title: id), context)
    }
}

extension ExecSource {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The program and its arguments.
        public var command: [String]
        /// Environment variables of the program.
        public var environment: [String: String]
        /// The time limit for one answer of the program.
        public var timeout: Interval
        /// The networks that pictures may come from.
        public var networks: [NetworkRange]
        public var headers: [String: String]
        public var rate: Double?
        /// The proxy of requests for pictures.
        public var proxy: OriginProxy?
        /// The size limit for one answer of the program, in bytes.
        public var answerBytes: ByteSize
        /// The limits of each of the program's processes: bytes of memory, open files, and processor time in all; `nil` is no limit.
        public var memory = Self.usualMemory
        public var files = Self.usualFiles
        public var processorTime: Interval?

        private static let usualMemory = ByteSize(1 << 30)
        private static let usualFiles = 256
        /// Standard input, output and error, and a few for the language.
        private static let leastFiles = 16
        private static let leastMemory = 16 << 20

        private enum CodingKeys: CodingKey {
            case command, environment, timeout, networks, headers, rate, answerBytes, memory, files, processorTime, proxy
        }

        public init(command: [String], environment: [String: String] = [:], timeout: Interval = Interval(.seconds(10))) {
            self.command = command
            self.environment = environment
            self.timeout = timeout
            networks = [.public]
            headers = [:]
            answerBytes = HTTPSettings.usualAnswerBytes
        }

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            command = try keys.decode([String].self, forKey: .command)
            environment = try keys.decodeIfPresent([String: String].self, forKey: .environment) ?? [:]
            timeout = try keys.decodeIfPresent(Interval.self, forKey: .timeout) ?? Interval(.seconds(10))
            networks = try keys.decodeIfPresent([NetworkRange].self, forKey: .networks) ?? [.public]
            headers = try keys.decodeIfPresent([String: String].self, forKey: .headers) ?? [:]
            rate = try keys.decodeIfPresent(Double.self, forKey: .rate)
            proxy = try keys.decodeIfPresent(OriginProxy.self, forKey: .proxy)
            answerBytes = try keys.decodeIfPresent(ByteSize.self, forKey: .answerBytes) ?? HTTPSettings.usualAnswerBytes
            memory = try keys.decodeIfPresent(ByteSize.self, forKey: .memory) ?? Self.usualMemory
            files = try keys.decodeIfPresent(Int.self, forKey: .files) ?? Self.usualFiles
            processorTime = try keys.decodeIfPresent(Interval.self, forKey: .processorTime)
            guard memory.bytes >= Self.leastMemory else {
                throw ConfigurationError(path: "memory", message: "“\(memory.bytes)” is too little for a program; at least 16MiB")
            }
            guard files >= Self.leastFiles else {
                throw ConfigurationError(path: "files", message: "“\(files)” is too few for a program; at least \(Self.leastFiles)")
            }
            if let processorTime, processorTime.duration < .seconds(1) {
                throw ConfigurationError(path: "processorTime", message: "must be at least 1s")
            }
        }
    }

    public static let sampleConfiguration = """
        type: exec
        # The program and its arguments. It starts with the first request, and again after it has ended.
        command: [python3, ./films.py]
        # Environment variables in addition to PATH, HOME, LANG, LC_ALL and TMPDIR.
        environment: { API_KEY: "${FILMS_KEY}" }
        # The time limit for one answer.
        timeout: 10s
        # The size limit for one answer; a program that writes more is terminated.
        answerBytes: 8MiB
        # Limits of each of its processes: memory, open files, and processor time in all, after which it is started again (no limit by
        # default).
        memory: 1GiB
        files: 256
        processorTime: 1h
        # For the pictures: allowed addresses of connections, headers, requests per second.
        networks: [public]
        # The proxy of all these requests, which looks up the names of hosts; or socks5://proxy.example:1080.
        # proxy: http://user:password@proxy.example:3128
        headers: { User-Agent: "onesheet" }
        rate: 20
        """
}
