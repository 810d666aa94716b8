extension Int {
    /// Parses a number in its only canonical spelling: decimal, without a plus sign and leading zeros.
    package init?(canonical text: some StringProtocol) {
        guard let number = Int(text), text.isExactly("\(number)") else { return nil }
        self = number
    }
}
