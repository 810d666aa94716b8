extension ShippedManifest {
    /// Wikidata with the images of Wikimedia Commons, <https://www.wikidata.org/wiki/Wikidata:Data_access>. An id is `Q190050`, or IMDb's.
    static let wikidata = """
        baseURL: https://query.wikidata.org
        defaults: { language: en, api: "https://www.wikidata.org/w/api.php" }
        headers: { User-Agent: "onesheet ({contact})", Accept: application/sparql-results+json }
        ids: [wikidata, imdb]
        rate: 2
        faults:
          - { at: /results/bindings/0/known/value, equals: "0", reason: notFound }
        search:
          get: "{+api}?action=wbsearchentities&format=json&type=item&search={query}&language={language}&uselang={language}&limit=20&continue={offset}"
          headers: { User-Agent: "onesheet ({contact})" }
          items: /search
          next: /search-continue
          perPage: 20
          fields: { id: /id, name: [/label, /id], overview: /description }
        cases:
          - id: "tt{number}"
            resolve:
              get: >-
                /sparql?format=json&query=SELECT ?film WHERE %7B ?film wdt:P345 "{id}" %7D LIMIT 1
              id: { at: /results/bindings/0/film/value, after: /entity/ }
          - id: "Q{number}"
            title:
              # Of an item that is not there, too, a count is one row.
              get: >-
                /sparql?format=json&query=SELECT (COUNT(?class) AS ?known) (SAMPLE(?own) AS ?name) (SAMPLE(?english) AS ?other)
                (SAMPLE(?title) AS ?original) (MIN(?day) AS ?date) (SAMPLE(?tt) AS ?imdb) (SAMPLE(?number) AS ?tmdb) WHERE %7B
                wd:{id} wdt:P31 ?class .
                OPTIONAL %7B wd:{id} rdfs:label ?own FILTER(LANG(?own) = "{language}") %7D
                OPTIONAL %7B wd:{id} rdfs:label ?english FILTER(LANG(?english) = "en") %7D
                OPTIONAL %7B wd:{id} wdt:P1476 ?title %7D OPTIONAL %7B wd:{id} wdt:P577 ?day %7D
                OPTIONAL %7B wd:{id} wdt:P345 ?tt %7D OPTIONAL %7B wd:{id} wdt:P4947 ?number %7D %7D
              item: /results/bindings/0
              fields:
                id: &id { text: "{id}" }
                name: [/name/value, /other/value, *id]
                originalName: /original/value
                originalLanguage: "/original/xml:lang"
                releaseDate: /date/value
                ids: { wikidata: *id, imdb: /imdb/value, tmdb: /tmdb/value }
                metadata: { attribution: { text: "Wikidata, CC0. Images: Wikimedia Commons, each under the licence of its page" } }
            candidates:
              # With a width, drawings are PNG.
              get: >-
                /sparql?format=json&query=SELECT (COUNT(?class) AS ?known)
                (GROUP_CONCAT(DISTINCT CONCAT(STR(?poster), "?width=1920")%3B separator="|") AS ?posters)
                (GROUP_CONCAT(DISTINCT CONCAT(STR(?logo), "?width=1920")%3B separator="|") AS ?logos)
                (GROUP_CONCAT(DISTINCT CONCAT(STR(?image), "?width=1920")%3B separator="|") AS ?images) WHERE %7B
                wd:{id} wdt:P31 ?class . OPTIONAL %7B wd:{id} wdt:P3383 ?poster %7D
                OPTIONAL %7B wd:{id} wdt:P154 ?logo %7D OPTIONAL %7B wd:{id} wdt:P18 ?image %7D %7D
              items:
                poster: { at: /results/bindings/0/posters/value, split: "|", optional: true }
                logo: { at: /results/bindings/0/logos/value, split: "|" }
                still: { at: /results/bindings/0/images/value, split: "|" }
              fields:
                url: { at: "", replace: [["http:", "https:"]] }
        """
}
