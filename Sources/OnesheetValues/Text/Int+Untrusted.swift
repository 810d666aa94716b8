/// Numbers from outside, which can have any value and any spelling.
extension Int {
    /// Parses a number in its only canonical spelling: decimal, without a plus sign and leading zeros.
    package init?(canonical text: some StringProtocol) {
        guard let number = Int(text), text.isExactly("\(number)") else { return nil }
        self = number
    }

    /// `number` rounded towards zero and clamped to the range of `Int`; 0 for NaN.
    package init(saturating number: Double) {
        if let exact = Int(exactly: number.rounded(.towardZero)) {
            self = exact
        } else {
            self = number.isNaN ? 0 : number < 0 ? .min : .max
        }
    }

    /// The sum, clamped to the range of `Int`.
    package func addingSaturating(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? (other < 0 ? .min : .max) : sum
    }
}
