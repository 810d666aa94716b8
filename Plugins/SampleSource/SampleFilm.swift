internal import CSamplePosters
internal import NIOCore
internal import OnesheetCore

/// An invented film.
struct SampleFilm: Sendable {
    /// From 1; the title's id.
    let number: Int
    let name: String
    let koreanName: String
    let overview: String
    let genre: String
    let minutes: Int
    let released: CalendarDay?
    /// The width of the poster in pixels; the height is one and a half times as large.
    let width: Int

    init(
        _ number: Int, _ name: String, korean koreanName: String, released: String, genre: String, minutes: Int, width: Int = 1000,
        overview: String
    ) {
        self.number = number
        self.name = name
        self.koreanName = koreanName
        self.overview = overview
        self.genre = genre
        self.minutes = minutes
        self.released = CalendarDay(released)
        self.width = width
    }

    var id: String { String(number) }
    var height: Int { width * 3 / 2 }

    /// The poster as JPEG. Equal films have equal bytes everywhere.
    func poster() -> ByteBuffer {
        let poster = csample_poster(number)
        return ByteBuffer(bytes: UnsafeBufferPointer(start: poster.bytes, count: poster.count))
    }

    /// The film as a title, with its rank in a list.
    func title(rank: Int? = nil) -> Title {
        Title(
            id: id, name: name, originalName: koreanName, overview: overview, releaseDate: released, rank: rank,
            metadata: ["genre": .string(genre), "minutes": .integer(minutes)])
    }
}
