import OnesheetCore

extension Transform {
    /// Whether the transform changes nothing except perhaps the format. No file looks more like the original than itself, so finding
    /// the quality alone changes nothing.
    var changesNoPixel: Bool {
        var rest = self
        (rest.format, rest.isForAllClients, rest.findsQuality) = (nil, false, false)
        return rest == Transform()
    }

    /// Whether the transform leaves an original of `mediaType` unchanged. A drawing is never made into pixels.
    func isIdentity(for mediaType: String) -> Bool {
        if mediaType == ImageFormat.svg.mediaType { return true }
        guard changesNoPixel || isSkipped(for: mediaType) else { return false }
        if isForAllClients { return [ImageFormat.jpeg, .png].contains { $0.mediaType == mediaType } }
        return format == nil || format?.mediaType == mediaType
    }

    /// Whether the original is returned as it is because of its format. Limits of its size are checked by the renderer, which then makes the
    /// variant as usual.
    private func isSkipped(for mediaType: String) -> Bool {
        maxSourcePixels == 0 && maxSourceBytes == 0 && skips.contains { $0.mediaType == mediaType }
    }
}
