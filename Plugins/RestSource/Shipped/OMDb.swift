/// Built-in manifests, by the names of their databases. Each has a page in `docs/databases`.
enum ShippedManifest {}

extension ShippedManifest {
    /// The Open Movie Database, <https://www.omdbapi.com/>.
    static let omdb = """
        baseURL: https://www.omdbapi.com
        ids: [imdb]
        rate: 10
        quota: { perDay: 1000, timeZone: "+00:00" }
        nothing: [N/A]
        faults:
          - { at: /Error, equals: "Request limit reached!", reason: quotaExhausted }
          - { status: 401, reason: unauthorized, message: /Error }
          - { at: /Error, equals: ["Movie not found!", "Series not found!", "Incorrect IMDb ID.", "Error getting data."], reason: notFound }
          - { at: /Response, equals: "False", reason: malformedAnswer, message: /Error }
        search:
          get: "/?apikey={key}&type=movie&s={query}&page={page}"
          items: /Search
          total: /totalResults
          perPage: 10
          lastPage: 100
          fields: { id: /imdbID, name: /Title, metadata: { year: &year { at: /Year, before: –, as: integer } } }
        title:
          get: &film "/?apikey={key}&plot=full&i={id}"
          fields:
            id: /imdbID
            name: /Title
            overview: /Plot
            releaseDate: /Released
            metadata:
              year: *year
              runtime: { at: /Runtime, before: " min", as: integer }
              genres: { at: /Genre, split: ", " }
              directors: { at: /Director, split: ", " }
              actors: { at: /Actors, split: ", " }
              nations: { at: /Country, split: ", " }
              voteAverage: { at: /imdbRating, as: number }
              voteCount: { at: /imdbVotes, replace: [[",", ""]], as: integer }
              attribution: { text: "OMDb API, CC BY-NC 4.0" }
        candidates:
          get: *film
          items: { at: "", optional: true }
          fields: { url: { at: /Poster, replace: [["_V1_SX300.", "_V1_SX1200."]] } }
        """
}
