public import OnesheetCore

extension ExecSource {
    /// The configuration.
    public struct Configuration: Decodable, Sendable {
        /// The program and its arguments.
        public var command: [String]
        /// Environment variables of the program.
        public var environment: [String: String]
        /// The time limit for one answer of the program.
        public var timeout: Interval
        /// The freshness of the pictures.
        public var networks: [NetworkRange]
        public var headers: [String: String]
        public var rate: Double?
        /// The size limit for one answer of the program, in bytes.
        public var answerBytes: ByteSize

        private enum CodingKeys: CodingKey { case command, environment, timeout, networks, headers, rate, answerBytes }

        public init(command: [String], environment: [String: String] = [:], timeout: Interval = Interval(.seconds(10))) {
            (self.command, self.environment, self.timeout) = (command, environment, timeout)
            (networks, headers, answerBytes) = ([.public], [:], HTTPSettings.usualAnswerBytes)
        }

        public init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            command = try keys.decode([String].self, forKey: .command)
            environment = try keys.decodeIfPresent([String: String].self, forKey: .environment) ?? [:]
            timeout = try keys.decodeIfPresent(Interval.self, forKey: .timeout) ?? Interval(.seconds(10))
            networks = try keys.decodeIfPresent([NetworkRange].self, forKey: .networks) ?? [.public]
            headers = try keys.decodeIfPresent([String: String].self, forKey: .headers) ?? [:]
            rate = try keys.decodeIfPresent(Double.self, forKey: .rate)
            answerBytes = try keys.decodeIfPresent(ByteSize.self, forKey: .answerBytes) ?? HTTPSettings.usualAnswerBytes
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
        # For the pictures: allowed addresses of connections, headers, requests per second.
        networks: [public]
        headers: { User-Agent: "onesheet" }
        rate: 20
        """
}
