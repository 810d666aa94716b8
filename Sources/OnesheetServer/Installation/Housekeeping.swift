import Logging
import OnesheetCache
import OnesheetCore
import ServiceLifecycle

/// Removes what has expired, every three minutes.
struct Housekeeping: Service {
    let memory: MemoryTier
    let disk: DiskTier
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Waiting is the purpose, and it ends by cancellation only.
            while (try? await ContinuousClock().sleep(for: .seconds(180))) != nil {
                memory.sweep()
                do { try await disk.sweep() } catch { logger.warning("the disk tier cannot be swept: \(error)") }
            }
        }
    }
}
