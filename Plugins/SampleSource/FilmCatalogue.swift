extension SampleFilm {
    /// All films, by number. Names and plots are invented.
    static let catalogue: [SampleFilm] = [
        Self(
            1, "The Lighthouse of Salt", korean: "소금 등대", released: "2026-10-28", genre: "Drama", minutes: 118, width: 2000,
            overview: "The last keeper of a lighthouse carved from rock salt has one summer before the rain reaches it."),
        Self(
            2, "Paper Mountains", korean: "종이 산맥", released: "2026-11-04", genre: "Adventure", minutes: 104,
            overview: "Two mapmakers climb a range that exists only on the map they drew themselves."),
        Self(
            3, "Last Bus to Hanbit", korean: "한빛행 막차", released: "2026-09-16", genre: "Mystery", minutes: 97,
            overview: "Eleven passengers board the night bus; at every stop it is a different year."),
        Self(
            4, "Seven Quiet Moons", korean: "일곱 개의 고요한 달", released: "2026-11-11", genre: "Science fiction", minutes: 136,
            width: 2000,
            overview: "A radio operator at the edge of the system hears seven moons fall silent, one each night."),
        Self(
            5, "Rain Over Line Nine", korean: "구호선의 비", released: "2026-08-19", genre: "Crime", minutes: 111,
            overview: "It has rained inside one subway station for a week, and only a retired inspector is dry."),
        Self(
            6, "The Clockmaker's Orchard", korean: "시계공의 과수원", released: "2026-10-07", genre: "Fantasy", minutes: 108,
            overview: "Trees that bear clocks have ripened early, and someone is picking them before their time."),
        Self(
            7, "Neon Tangerine", korean: "네온 귤", released: "2026-07-22", genre: "Comedy", minutes: 92,
            overview: "A fruit seller's bird becomes the most wanted stylist of the harbour district."),
        Self(
            8, "A Theory of Kites", korean: "연의 이론", released: "2026-05-13", genre: "Romance", minutes: 101,
            overview: "Two physicists who disagree about everything share one string."),
        Self(
            9, "Lantern Season", korean: "등불의 계절", released: "2026-11-18", genre: "Family", minutes: 99,
            overview: "In the week of lanterns a girl repairs the light of everyone who has forgotten a promise."),
        Self(
            10, "Signal from Dokkum Bay", korean: "독금만의 신호", released: "2026-06-10", genre: "Thriller", minutes: 122,
            overview: "A bay without a single antenna answers every call, politely, in the caller's own voice."),
        Self(
            11, "Glass Winter", korean: "유리 겨울", released: "2026-01-14", genre: "Drama", minutes: 128,
            overview: "A glazier carries one unbroken pane across a frozen country."),
        Self(
            12, "The Borrowed Island", korean: "빌린 섬", released: "2026-04-01", genre: "Adventure", minutes: 106,
            overview: "Three siblings rent an island for a weekend and cannot find where to give it back."),
        Self(
            13, "Midnight Carpenters", korean: "한밤의 목수들", released: "2026-03-18", genre: "Fantasy", minutes: 114, width: 2000,
            overview: "While the city sleeps a guild moves its walls by a hand's breadth, and one night a wall moves back."),
        Self(
            14, "Salt and Static", korean: "소금과 잡음", released: "2025-12-03", genre: "Music", minutes: 95,
            overview: "A fishing village's choir learns to sing a broken radio's one station."),
        Self(
            15, "Orbit of Small Things", korean: "작은 것들의 궤도", released: "2025-10-22", genre: "Science fiction", minutes: 131,
            overview: "A seamstress repairs spacesuits and finds a pocket that was not there before."),
        Self(
            16, "The Tailor of Fog", korean: "안개 재단사", released: "2025-11-12", genre: "Fantasy", minutes: 103,
            overview: "He cuts coats from morning fog; by noon his customers are never seen again."),
        Self(
            17, "Eleven Staircases", korean: "열한 개의 계단", released: "2025-09-03", genre: "Mystery", minutes: 109,
            overview: "A house with one floor and eleven staircases is for sale to anyone who can count them."),
        Self(
            18, "Copper Sparrow", korean: "구리 참새", released: "2025-07-09", genre: "Animation", minutes: 88,
            overview: "A clockwork sparrow applies for a licence to migrate."),
        Self(
            19, "Harbor Without Maps", korean: "지도 없는 항구", released: "2025-05-28", genre: "Drama", minutes: 116,
            overview: "Ships arrive at a harbour that no chart shows, and none of their captains meant to."),
        Self(
            20, "Noodles at the End", korean: "끝에서 먹는 국수", released: "2025-04-16", genre: "Comedy", minutes: 94,
            overview: "The last noodle stall before the end of the world is always full on Thursdays."),
        Self(
            21, "The Violet Hour Train", korean: "보랏빛 열차", released: "2025-02-12", genre: "Romance", minutes: 107,
            overview: "A train that runs only at dusk has one compartment for everyone who missed it."),
        Self(
            22, "Tenth Floor Garden", korean: "십층 정원", released: "2025-03-19", genre: "Family", minutes: 96,
            overview: "A lift that stops between floors opens on somebody's vegetable garden."),
        Self(
            23, "Ink Tide", korean: "먹물 파도", released: "2024-12-11", genre: "Thriller", minutes: 124, width: 2000,
            overview: "Every seventh wave leaves a line of writing on the beach, and the story is about the reader."),
        Self(
            24, "Tomorrow's Cartographer", korean: "내일의 지도장이", released: "2024-10-02", genre: "Adventure", minutes: 119,
            overview: "She maps places on the day before they appear."),
    ]
}
