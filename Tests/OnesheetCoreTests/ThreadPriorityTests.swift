#if canImport(Glibc)
    import Foundation
    import Glibc
    import OnesheetCore
    import Synchronization
    import XCTest

    final class ThreadPriorityTests: XCTestCase {
        func testThatAThreadHasItsPriorityAlone() {
            // Given the nice value of the process
            let process = Self.value(of: getpid())
            for (priority, lower) in [(ThreadPriority.requests, 5), (.work, 10)] {
                // When a thread takes a priority, twice
                let value = Mutex<Int32?>(nil)
                let isDone = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    priority.apply()
                    priority.apply()
                    value.withLock { $0 = Self.value(of: 0) }
                    isDone.signal()
                }
                isDone.wait()
                // Then it has that, and the process has what it had
                XCTAssertEqual(value.withLock { $0 }, min(process + Int32(lower), 19))
                XCTAssertEqual(Self.value(of: getpid()), process)
            }
        }

        private static func value(of thread: pid_t) -> Int32 {
            getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(thread))
        }
    }
#endif
