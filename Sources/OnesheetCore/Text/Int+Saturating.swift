extension Int {
    /// The whole number nearest to `number` towards zero; what no number of this machine can be is the smallest or the largest that
    /// there is, and what is no number at all is 0. For numbers from outside, which can be any.
    package init(saturating number: Double) {
        if let exact = Int(exactly: number.rounded(.towardZero)) {
            self = exact
        } else {
            self = number.isNaN ? 0 : number < 0 ? .min : .max
        }
    }
}
