package import OnesheetCore

/// The known facts about a picture without its bytes. It is enough to predict the cost of work on it.
package struct PictureOutline: Sendable, Equatable {
    /// Without copyright notice and EXIF structure. An empty profile stands for one of `profile` bytes.
    package let header: ImageHeader
    /// Bytes of the ICC profile.
    package let profile: Int
    /// Bytes of the file.
    package let count: Int

    package var format: ImageFormat { header.format }
    /// Pixels after orientation.
    package var width: Int { header.orientation.swapsSides ? header.height : header.width }
    /// Pixels after orientation.
    package var height: Int { header.orientation.swapsSides ? header.width : header.height }

    /// - Parameter profile: the bytes of a profile that `header` has not itself.
    package init(_ header: ImageHeader, profile: Int = 0, count: Int) {
        var (short, profile) = (header, profile)
        (short.copyright, short.exif) = (nil, nil)
        if case .icc(let own) = header.colors, !own.isEmpty { (short.colors, profile) = (.icc([]), own.count) }
        self.header = short
        self.profile = profile
        self.count = count
    }
}
