/// What one request may use at the most. Everything that comes from outside is held against these.
public struct Limits: Sendable, Equatable {
    /// Bytes of an original.
    public var originBytes: Int
    /// Pixels of an original, read from its header before it is decoded.
    public var pixels: Int
    /// Pixels of a variant.
    public var outputPixels: Int
    /// Scans of a progressive original: each costs a pass over the whole picture.
    public var scans: Int
    /// Time to fetch one original, from the first byte sent to the last received.
    public var originTimeout: Duration
    /// Time that an origin may be silent in the middle of it.
    public var originIdleTimeout: Duration
    /// Requests to one host at the same time.
    public var originConcurrency: Int
    /// Requests that may wait for one host; one more is refused.
    public var originQueue: Int
    /// Renders at the same time.
    public var workers: Int
    /// Renders that may wait for a worker; one more is refused.
    public var queue: Int
    /// The longest that a render is let wait, as far as can be foreseen; one that would wait longer is refused at once.
    public var queueTime: Duration
    /// Bytes that originals under way and pixels in the making may occupy together.
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
