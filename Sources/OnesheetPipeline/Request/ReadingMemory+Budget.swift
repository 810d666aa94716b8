import OnesheetCore

import OnesheetCache

extension ReadingMemory {
    /// Reserves `memory` for the client of the current task. A single entry always fits, even if it exceeds the budget.
    convenience init(of memory: MemoryBudget) {
        let client = ClientKey.current
        self.init { bytes in memory.reserve(bytes, for: client, alone: true) }
    }

    /// Counts what is read in `memory` and refuses nothing.
    convenience init(charging memory: MemoryBudget) {
        self.init { bytes in memory.charge(bytes) }
    }
}
