extension TransformOption {
    /// The place of a value in `Transform`, by the kind of the value. What treats every property switches over the kinds.
    package enum Property: Sendable {
        package typealias Path<Value> = any WritableKeyPath<Transform, Value> & Sendable

        case flag(Path<Bool>)
        case integer(Path<Int>)
        case number(Path<Double>)
        case resizing(Path<Transform.Resizing>)
        case gravity(Path<Gravity>)
        case position(Path<Gravity?>)
        case crop(Path<Transform.Crop?>)
        case trim(Path<Transform.Trim?>)
        case padding(Path<Transform.Padding?>)
        case color(Path<Color?>)
        case watermark(Path<Transform.Watermark?>)
        case format(Path<ImageFormat?>)
        case formats(Path<[ImageFormat]>)
        case qualities(Path<[ImageFormat: Int]>)
    }
}

extension TransformOption {
    /// An option of one flag.
    static func flag(
        _ names: String..., at path: Property.Path<Bool>, effects: Effects = [], help: String
    ) -> TransformOption {
        let standard = Transform()[keyPath: path]
        return TransformOption(
            names, arguments: "{0|1}", help: help, properties: [.flag(path)],
            text: { $0[keyPath: path] == standard ? nil : standard ? "0" : "1" }, effects: effects
        ) { option, parsed, _ throws(RequestError) in
            parsed.transform[keyPath: path] = try option.flag(or: parsed.transform[keyPath: path])
        }
    }

    /// An option of one whole number, in the cache key by its own name; 0 is the standard value.
    static func integer(
        _ name: String, _ long: String, _ path: Property.Path<Int>, _ range: ClosedRange<Int>, effects: Effects = [], help: String
    ) -> TransformOption {
        TransformOption(
            [name, long], arguments: range.upperBound == .max ? "{number}" : "{\(range.lowerBound)–\(range.upperBound)}",
            help: help,
            properties: [.integer(path)], text: { $0[keyPath: path] == 0 ? nil : "\($0[keyPath: path])" }, effects: effects
        ) { option, parsed, _ throws(RequestError) in
            parsed.transform[keyPath: path] = try option.integer(range, or: parsed.transform[keyPath: path])
        }
    }

    /// An option of a side that `dpr` multiplies. The first of two sides has both in its part of the key.
    static func side(
        _ name: String, _ long: String, _ path: Property.Path<Int>, key: [KeyPart], help: String
    ) -> TransformOption {
        TransformOption(
            [name, long], arguments: "{pixels}", help: help, properties: [.integer(path)], key: key,
            text: { $0[keyPath: path] == 0 ? nil : "\($0[keyPath: path])" },
            scale: { $0[keyPath: path] = Transform.multiplied($0[keyPath: path], by: $1) }
        ) { option, parsed, _ throws(RequestError) in
            parsed.transform[keyPath: path] = try option.integer(OptionArguments.sides, or: parsed.transform[keyPath: path])
        }
    }

    /// An option of one number; 0 is the standard value.
    static func number(
        _ name: String, _ long: String, _ path: Property.Path<Double>, _ range: ClosedRange<Double>, effects: Effects, help: String
    ) -> TransformOption {
        TransformOption(
            [name, long], arguments: "{0–\(Int(range.upperBound))}", help: help, properties: [.number(path)],
            text: { $0[keyPath: path] == 0 ? nil : "\($0[keyPath: path])" }, effects: effects
        ) { option, parsed, _ throws(RequestError) in
            parsed.transform[keyPath: path] = try option.number(range, or: parsed.transform[keyPath: path])
        }
    }
}

extension Transform {
    /// `side` times `ratio`. 0 is no limit, so a side never becomes 0.
    static func multiplied(_ side: Int, by ratio: Double) -> Int { side == 0 ? 0 : max(Int((Double(side) * ratio).rounded()), 1) }
}
