#if JXL
    internal import CJXL
    internal import OnesheetCore

    /// Runs libjxl's steps one after the other on the calling thread, until a deadline.
    struct JXLSteps {
        let deadline: Deadline
        private(set) var hasStopped = false

        init(deadline: Deadline) { self.deadline = deadline }

        /// libjxl's parallel runner. Its context is a pointer to an object of this type.
        static var run: JxlParallelRunner {
            let runner: JxlParallelRunner = { context, work, begin, step, first, end in
                guard let steps = context?.assumingMemoryBound(to: JXLSteps.self), let begin, let step else {
                    return JXL_PARALLEL_RET_RUNNER_ERROR
                }
                let status = begin(work, 1)
                guard status == 0 else { return status }
                for index in first..<max(first, end) {
                    if steps.pointee.hasStopped || steps.pointee.deadline.hasPassed {
                        steps.pointee.hasStopped = true
                        return JXL_PARALLEL_RET_RUNNER_ERROR
                    }
                    step(work, index, 0)
                }
                return 0
            }
            return runner
        }
    }
#endif
