import OnesheetCore

/// Writes the part of thumbor's addresses after the signature.
enum ThumborWriter {
    static func path(of title: TitleReference, as transform: Transform) -> String {
        var parts: [String] = []
        if let crop = transform.crop, case .corner(let x, let y)? = crop.gravity {
            parts.append("\(x)x\(y):\(x + Int(crop.width))x\(y + Int(crop.height))")
        }
        let fits = transform.resizing == .fit && !transform.enlarges
        if transform.width > 0 || transform.height > 0 {
            if fits { parts.append("fit-in") }
            let across = (transform.flipsHorizontally ? "-" : "") + String(transform.width)
            let down = (transform.flipsVertically ? "-" : "") + String(transform.height)
            parts.append("\(across)x\(down)")
            if transform.resizing == .fill { parts += alignment(transform) }
        }
        let filters = filters(transform, fits: fits)
        if !filters.isEmpty { parts.append("filters:" + filters.joined(separator: ":")) }
        return (parts + [PercentEncoding.encode(title.description)]).joined(separator: "/")
    }

    /// The part of the picture to keep. thumbor crops before it flips, so a flip swaps the sides.
    private static func alignment(_ transform: Transform) -> [String] {
        switch transform.gravity {
        case .smart: return ["smart"]
        case .compass(let x, let y):
            let (right, down) = (transform.flipsHorizontally ? -x : x, transform.flipsVertically ? -y : y)
            return [right < 0 ? "left" : "right"].filter { _ in right != 0 }
                + [down < 0 ? "top" : "bottom"].filter { _ in down != 0 }
        case .focus, .corner, .offset, .point: return []
        }
    }

    private static func filters(_ transform: Transform, fits: Bool) -> [String] {
        var filters: [String] = []
        if transform.quality != Transform.defaultQuality { filters.append("quality(\(transform.quality))") }
        if let format = transform.format { filters.append("format(\(format.name))") }
        if transform.blur > 0 {
            let radius = Int((transform.blur * ThumborFilters.wholeKernel).rounded(.up))
            filters.append("blur(\(radius),\(transform.blur))")
        }
        if transform.maxBytes > 0 { filters.append("max_bytes(\(transform.maxBytes))") }
        if let color = transform.background { filters.append("background_color(\(color.hexadecimal.dropFirst()))") }
        if !fits, !transform.enlarges { filters.append("no_upscale()") }
        return filters
    }
}
