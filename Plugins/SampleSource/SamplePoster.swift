internal import NIOCore
internal import OnesheetCore

/// Paints a film's poster: the scene, the names and the film stock. Equal films give equal bytes.
struct SamplePoster {
    let film: SampleFilm

    /// The poster as JPEG. Takes some tens of milliseconds for a megapixel.
    func jpeg() throws(SourceError) -> ByteBuffer {
        let canvas = paint()
        return try JPEGEncoder(quality: 88).encode(canvas)
    }

    func paint() -> Canvas {
        let canvas = Canvas(width: film.width, height: film.height)
        var random = SeededRandom(seed: UInt64(film.number))
        film.scene.paint(on: canvas, film.palette, random: &random)
        write(on: canvas)
        canvas.develop(vignette: 0.35, grain: 0.028, seed: UInt32(film.number))
        return canvas
    }

    private func write(on canvas: Canvas) {
        let isDarkBelow = luminance(of: canvas, around: film.isNameOnTop ? 0.15 : 1.25) < 0.55
        let ink = isDarkBelow ? film.palette.light.mixed(with: Colour(repeating: 1), 0.5) : film.palette.dark
        let lines = nameLines
        let large = lines.map {
            Lettering(size: lines.count > 1 ? 0.1 : 0.125, weight: 0.115, spacing: 0.2).fitting($0, into: 0.84)
        }
        let small = Lettering(size: 0.027, weight: 0.13, spacing: 0.62).fitting(film.name, into: 0.84)
        let height = large.reduce(0) { $0 + $1.size * 1.32 } + 0.03 + small.size
        var y = film.isNameOnTop ? 0.085 : 1.36 - height
        if !isDarkBelow || film.palette.light.sum() < 2 { shade(canvas, behind: ink, y: y, height: height) }
        for (line, lettering) in zip(lines, large) {
            centre(line, lettering, y: y, ink: ink, on: canvas)
            y += lettering.size * 1.32
        }
        centre(film.name, small, y: y + 0.012, ink: ink, on: canvas)
        let day = film.released.map { "\($0)".split(separator: "-").joined(separator: ".") } ?? ""
        let foot = Lettering(size: 0.0165, weight: 0.13, spacing: 0.5)
        let footInk =
            luminance(of: canvas, around: 1.435) < 0.55
            ? film.palette.light.mixed(with: Colour(repeating: 1), 0.4) : film.palette.dark
        centre(
            "A Onesheet picture - \(film.genre) - \(film.minutes) min - \(day)",
            foot.fitting(String(repeating: "M", count: 40), into: 0.86), y: 1.425, ink: footInk, on: canvas)
    }

    /// The Korean name, on two lines if it is long.
    private var nameLines: [String] {
        let words = film.koreanName.split(separator: " ").map(String.init)
        guard words.count > 1,
            film.koreanName.count > 8
        else { return [film.koreanName] }
        let half = (words.count + 1) / 2
        return [words[..<half].joined(separator: " "), words[half...].joined(separator: " ")]
    }

    private func centre(_ text: String, _ lettering: Lettering, y: Float, ink: Colour, on canvas: Canvas) {
        canvas.fill(lettering.path(of: text, at: Point(0.5 - lettering.width(of: text) / 2, y)), ink)
    }

    /// Reduces the contrast behind the name.
    private func shade(_ canvas: Canvas, behind ink: Colour, y: Float, height: Float) {
        let back = ink.sum() > 1.5 ? film.palette.dark : film.palette.light
        canvas.glow(at: Point(0.5, y + height / 2), radius: 0.5, back, strength: 0.25)
    }

    /// The brightness of the canvas at the height `y`, from 0 to 1.
    private func luminance(of canvas: Canvas, around y: Float) -> Float {
        let row = min(canvas.height - 1, Int(y * canvas.scale))
        let bytes = canvas.bytes[(row * canvas.width * 3)..<((row + 1) * canvas.width * 3)]
        return Float(bytes.reduce(0) { $0 + Int($1) }) / Float(bytes.count) / 255
    }
}
