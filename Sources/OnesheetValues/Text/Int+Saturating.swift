extension Int {
    /// `number` rounded towards zero and clamped to the range of `Int`; 0 for NaN. For numbers from outside, which can have any
    /// value.
    package init(saturating number: Double) {
        if let exact = Int(exactly: number.rounded(.towardZero)) {
            self = exact
        } else {
            self = number.isNaN ? 0 : number < 0 ? .min : .max
        }
    }

    /// The sum, clamped to the range of `Int`. For numbers from outside, which can have any value.
    package func addingSaturating(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? (other < 0 ? .min : .max) : sum
    }
}
