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

        func testThatAThreadDoesNotPassOnThePriorityOfClients() throws {
            // Given a process that may have the priority: by CAP_SYS_NICE, which root has except in containers, or by a limit
            let process = Self.value(of: getpid())
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let rights = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }?.split(separator: "\t").last
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(__RLIMIT_NICE.rawValue), &limit)
            let isAllowed =
                try XCTUnwrap(rights.flatMap { UInt64($0, radix: 16) }) & 1 << 23 != 0
                || limit.rlim_cur >= rlim_t(20 - (process - 5))
            // When a thread takes it, and starts another one
            let values = Mutex<[Int32]>([])
            let areDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                ThreadPriority.clients.apply()
                values.withLock { $0.append(Self.value(of: 0)) }
                Thread.detachNewThread {
                    values.withLock { $0.append(Self.value(of: 0)) }
                    areDone.signal()
                }
            }
            areDone.wait()
            // Then the first has it if that is allowed, and the other one a nice value of at least 0
            let own = isAllowed ? max(process - 5, -20) : process
            XCTAssertEqual(values.withLock { $0 }, [own, max(own, 0)])
        }

        private static func value(of thread: pid_t) -> Int32 {
            getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(thread))
        }
    }
#endif
