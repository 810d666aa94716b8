import OnesheetCore

/// Writes a transform in Cloudflare's options.
enum CloudflareWriter {
    /// - Returns: `nil` if an option for a part of it is missing.
    static func options(_ transform: Transform) -> String? {
        guard let fit = fit(transform) else { return nil }
        var options: [String] = []
        func add(_ name: String, _ value: some CustomStringConvertible, unless isDefault: Bool) {
            if !isDefault { options.append("\(name)=\(value)") }
        }
        add("width", transform.width, unless: transform.width == 0)
        add("height", transform.height, unless: transform.height == 0)
        add("fit", fit, unless: fit == "scale-down")
        if transform.gravity != .center {
            guard let gravity = gravity(transform.gravity) else { return nil }
            options.append("gravity=\(gravity)")
        }
        add("quality", transform.quality, unless: transform.quality == Transform.defaultQuality)
        options.append("format=\(transform.format?.name ?? "auto")")
        add("blur", transform.blur, unless: transform.blur == 0)
        add("sharpen", transform.sharpen, unless: transform.sharpen == 0)
        if let color = transform.background { options.append("background=\(color.hexadecimal.dropFirst())") }
        add("rotate", transform.rotation, unless: transform.rotation == 0)
        // Cloudflare flips before it rotates; a transform flips afterwards.
        let isTurned = transform.rotation % 180 != 0
        let across = isTurned ? transform.flipsVertically : transform.flipsHorizontally
        let down = isTurned ? transform.flipsHorizontally : transform.flipsVertically
        if across || down { options.append("flip=" + (across ? "h" : "") + (down ? "v" : "")) }
        add(
            "metadata", transform.stripsMetadata ? "copyright" : "keep",
            unless: transform.stripsMetadata && !transform.keepsCopyright)
        return options.joined(separator: ",")
    }

    private static func fit(_ transform: Transform) -> String? {
        switch (transform.resizing, transform.enlarges) {
        case (.fit, false): "scale-down"
        case (.fit, true): transform.extends == nil ? "contain" : "pad"
        case (.fill, true): "cover"
        case (.fill, false): "crop"
        case (.fillDown, false): "aspect-crop"
        case (.force, true): "squeeze"
        case (.fillDown, true), (.force, false), (.auto, _), (.cover, _): nil
        }
    }

    private static func gravity(_ gravity: Gravity) -> String? {
        switch gravity {
        case .smart: "auto"
        case .focus(let x, let y): "\(x)x\(y)"
        case .compass(-1, 0): "left"
        case .compass(1, 0): "right"
        case .compass(0, -1): "top"
        case .compass(0, 1): "bottom"
        case .compass, .corner, .offset, .point: nil
        }
    }
}
