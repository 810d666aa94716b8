/// The limits of `limits` in the configuration, for single requests and for the server. All input from outside is checked against them.
public struct Limits: Sendable, Equatable {
    /// Bytes of an original.
    public var originBytes: Int
    /// Pixels of an original, checked in its header before decoding.
    public var pixels: Int
    /// Pixels of a variant.
    public var outputPixels: Int
    /// Scans of a progressive original. Each costs a pass over the whole picture.
    public var scans: Int
    /// Time to fetch one original, from the first byte sent to the last byte received.
    public var originTimeout: Duration
    /// Time without a byte from the origin.
    public var originIdleTimeout: Duration
    /// Concurrent requests to one host.
    public var originConcurrency: Int
    /// Requests that may wait for one host. Further ones are refused.
    public var originQueue: Int
    /// Concurrent renders.
    public var workers: Int
    /// Renders that may wait for a worker. Further ones are refused.
    public var queue: Int
    /// The longest predicted wait of a render. A render that would wait longer is refused immediately.
    public var queueTime: Duration
    /// Bytes that originals and pixels in memory may occupy together.
    public var memory: Int

    public init(
        originBytes: Int = 32 << 20, pixels: Int = 64_000_000, outputPixels: Int = 32_000_000, scans: Int = 100,
        originTimeout: Duration = .seconds(10), originIdleTimeout: Duration = .seconds(5), originConcurrency: Int = 8,
        originQueue: Int = 256,
        workers: Int = 2, queue: Int = 64, queueTime: Duration = .seconds(10), memory: Int = 512 << 20
    ) {
        self.originBytes = originBytes
        self.pixels = pixels
        self.outputPixels = outputPixels
        self.scans = scans
        self.originTimeout = originTimeout
        self.originIdleTimeout = originIdleTimeout
        self.originConcurrency = originConcurrency
        self.originQueue = originQueue
        self.workers = workers
        self.queue = queue
        self.queueTime = queueTime
        self.memory = memory
    }
}
