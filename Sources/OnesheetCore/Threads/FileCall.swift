/// System calls that read or write files. A large file takes several, unless a write must happen at once.
///
/// Linux without preemption (`CONFIG_PREEMPT_NONE`, usual on servers) lets a thread finish what it began in the kernel. A picture of 30 MB,
/// read by one call, kept an event loop from its processor for 20 ms, though the loop has the higher priority.
package enum FileCall {
    /// The most bytes of one call: about a tenth of a millisecond.
    package static let longest = 256 << 10
}
