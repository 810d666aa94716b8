extension SampleFilm {
    /// All films, by number. Names and plots are invented.
    static let catalogue: [SampleFilm] = [
        Self(
            1, "The Lighthouse of Salt", korean: "소금 등대", released: "2026-10-28", genre: "Drama", minutes: 118, scene: .sea,
            palette: Palette(dark: 0x0B1B33, deep: 0x1D4E7A, middle: 0xE0735A, light: 0xFFD9A0, accent: 0xFFB347), top: true,
            width: 2000,
            overview: "The last keeper of a lighthouse carved from rock salt has one summer before the rain reaches it."),
        Self(
            2, "Paper Mountains", korean: "종이 산맥", released: "2026-11-04", genre: "Adventure", minutes: 104, scene: .mountains,
            palette: Palette(dark: 0x1A1333, deep: 0x4B2E6B, middle: 0xC0567B, light: 0xFFD3B5, accent: 0xFFF1C9), top: true,
            overview: "Two mapmakers climb a range that exists only on the map they drew themselves."),
        Self(
            3, "Last Bus to Hanbit", korean: "한빛행 막차", released: "2026-09-16", genre: "Mystery", minutes: 97, scene: .road,
            palette: Palette(dark: 0x120A22, deep: 0x2B1B4D, middle: 0x6A3D7C, light: 0xF08A5D, accent: 0xFFD166), top: true,
            overview: "Eleven passengers board the night bus; at every stop it is a different year."),
        Self(
            4, "Seven Quiet Moons", korean: "일곱 개의 고요한 달", released: "2026-11-11", genre: "Science fiction", minutes: 136,
            scene: .orbit,
            palette: Palette(dark: 0x05060F, deep: 0x14204A, middle: 0x35508F, light: 0xE9E3D0, accent: 0xF2A65A), width: 2000,
            overview: "A radio operator at the edge of the system hears seven moons fall silent, one each night."),
        Self(
            5, "Rain Over Line Nine", korean: "구호선의 비", released: "2026-08-19", genre: "Crime", minutes: 111, scene: .noir,
            palette: Palette(dark: 0x0A0C10, deep: 0x1B2430, middle: 0x5B6B7B, light: 0xF5E6C8, accent: 0xB8860B),
            overview: "It has rained inside one subway station for a week, and only a retired inspector is dry."),
        Self(
            6, "The Clockmaker's Orchard", korean: "시계공의 과수원", released: "2026-10-07", genre: "Fantasy", minutes: 108,
            scene: .forest,
            palette: Palette(dark: 0x0E1F1A, deep: 0x1F4A3A, middle: 0x6C9A78, light: 0xEAF0D0, accent: 0xFFE08A),
            overview: "Trees that bear clocks have ripened early, and someone is picking them before their time."),
        Self(
            7, "Neon Tangerine", korean: "네온 귤", released: "2026-07-22", genre: "Comedy", minutes: 92, scene: .rays,
            palette: Palette(dark: 0x2B1D3A, deep: 0xC8553D, middle: 0xF2A541, light: 0xFFF3D6, accent: 0xE8452C),
            overview: "A fruit seller's bird becomes the most wanted stylist of the harbour district."),
        Self(
            8, "A Theory of Kites", korean: "연의 이론", released: "2026-05-13", genre: "Romance", minutes: 101, scene: .shapes,
            palette: Palette(dark: 0x1E2749, deep: 0x30638E, middle: 0xD1495B, light: 0xF4EBD9, accent: 0xEDAE49),
            overview: "Two physicists who disagree about everything share one string."),
        Self(
            9, "Lantern Season", korean: "등불의 계절", released: "2026-11-18", genre: "Family", minutes: 99, scene: .lanterns,
            palette: Palette(dark: 0x1A0A14, deep: 0x4A1530, middle: 0x8C2F39, light: 0xFFE9B0, accent: 0xFF8C42),
            overview: "In the week of lanterns a girl repairs the light of everyone who has forgotten a promise."),
        Self(
            10, "Signal from Dokkum Bay", korean: "독금만의 신호", released: "2026-06-10", genre: "Thriller", minutes: 122,
            scene: .ridges,
            palette: Palette(dark: 0x050507, deep: 0x10141C, middle: 0x2A3240, light: 0xF4F4F0, accent: 0x9FD8CB),
            overview: "A bay without a single antenna answers every call, politely, in the caller's own voice."),
        Self(
            11, "Glass Winter", korean: "유리 겨울", released: "2026-01-14", genre: "Drama", minutes: 128, scene: .mountains,
            palette: Palette(dark: 0x0B1D2E, deep: 0x2A5573, middle: 0x8FB8CE, light: 0xF3FAFC, accent: 0xFFFFFF), top: true,
            overview: "A glazier carries one unbroken pane across a frozen country."),
        Self(
            12, "The Borrowed Island", korean: "빌린 섬", released: "2026-04-01", genre: "Adventure", minutes: 106, scene: .cut,
            palette: Palette(dark: 0x06262B, deep: 0x0E5A5F, middle: 0x3AA89F, light: 0xC9F0DD, accent: 0xFFC857),
            overview: "Three siblings rent an island for a weekend and cannot find where to give it back."),
        Self(
            13, "Midnight Carpenters", korean: "한밤의 목수들", released: "2026-03-18", genre: "Fantasy", minutes: 114, scene: .city,
            palette: Palette(dark: 0x080A1C, deep: 0x141B3C, middle: 0x3B4A86, light: 0xFFF2CC, accent: 0xFFCF5C), top: true,
            width: 2000,
            overview: "While the city sleeps a guild moves its walls by a hand's breadth, and one night a wall moves back."),
        Self(
            14, "Salt and Static", korean: "소금과 잡음", released: "2025-12-03", genre: "Music", minutes: 95, scene: .ridges,
            palette: Palette(dark: 0x1B0510, deep: 0x3A0B22, middle: 0x6E1A3C, light: 0xFFD6C0, accent: 0xFF5D73),
            overview: "A fishing village's choir learns to sing a broken radio's one station."),
        Self(
            15, "Orbit of Small Things", korean: "작은 것들의 궤도", released: "2025-10-22", genre: "Science fiction", minutes: 131,
            scene: .orbit,
            palette: Palette(dark: 0x0A0612, deep: 0x2B1244, middle: 0x7A2E6E, light: 0xFFE3D8, accent: 0x7FE7DC),
            overview: "A seamstress repairs spacesuits and finds a pocket that was not there before."),
        Self(
            16, "The Tailor of Fog", korean: "안개 재단사", released: "2025-11-12", genre: "Fantasy", minutes: 103, scene: .forest,
            palette: Palette(dark: 0x15131F, deep: 0x37344F, middle: 0x8A86A6, light: 0xECE7F0, accent: 0xFFC9B9),
            overview: "He cuts coats from morning fog; by noon his customers are never seen again."),
        Self(
            17, "Eleven Staircases", korean: "열한 개의 계단", released: "2025-09-03", genre: "Mystery", minutes: 109, scene: .stairs,
            palette: Palette(dark: 0x23132B, deep: 0x5C2751, middle: 0xA23B5A, light: 0xFCEBD0, accent: 0xF7B267), top: true,
            overview: "A house with one floor and eleven staircases is for sale to anyone who can count them."),
        Self(
            18, "Copper Sparrow", korean: "구리 참새", released: "2025-07-09", genre: "Animation", minutes: 88, scene: .rays,
            palette: Palette(dark: 0x0C2A33, deep: 0x17606B, middle: 0x54B7A6, light: 0xF3F6E4, accent: 0xD9793D),
            overview: "A clockwork sparrow applies for a licence to migrate."),
        Self(
            19, "Harbor Without Maps", korean: "지도 없는 항구", released: "2025-05-28", genre: "Drama", minutes: 116, scene: .sea,
            palette: Palette(dark: 0x0A1416, deep: 0x14363B, middle: 0x2F7D7A, light: 0xD8F0DC, accent: 0xF6F7D7), top: true,
            overview: "Ships arrive at a harbour that no chart shows, and none of their captains meant to."),
        Self(
            20, "Noodles at the End", korean: "끝에서 먹는 국수", released: "2025-04-16", genre: "Comedy", minutes: 94, scene: .lanterns,
            palette: Palette(dark: 0x06141F, deep: 0x0F3A52, middle: 0x2E7F94, light: 0xFFF4C7, accent: 0xF25F5C),
            overview: "The last noodle stall before the end of the world is always full on Thursdays."),
        Self(
            21, "The Violet Hour Train", korean: "보랏빛 열차", released: "2025-02-12", genre: "Romance", minutes: 107, scene: .road,
            palette: Palette(dark: 0x0E1030, deep: 0x2C2470, middle: 0x7B4BB7, light: 0xE9B7D6, accent: 0xFF9EC4), top: true,
            overview: "A train that runs only at dusk has one compartment for everyone who missed it."),
        Self(
            22, "Tenth Floor Garden", korean: "십층 정원", released: "2025-03-19", genre: "Family", minutes: 96, scene: .city,
            palette: Palette(dark: 0x0A1F1C, deep: 0x12413A, middle: 0x3E8C6E, light: 0xF4F1C6, accent: 0xFFA45B), top: true,
            overview: "A lift that stops between floors opens on somebody's vegetable garden."),
        Self(
            23, "Ink Tide", korean: "먹물 파도", released: "2024-12-11", genre: "Thriller", minutes: 124, scene: .cut,
            palette: Palette(dark: 0x0B0B12, deep: 0x2A2A3C, middle: 0x66667F, light: 0xD9D6E5, accent: 0xF04A3E), width: 2000,
            overview: "Every seventh wave leaves a line of writing on the beach, and the story is about the reader."),
        Self(
            24, "Tomorrow's Cartographer", korean: "내일의 지도장이", released: "2024-10-02", genre: "Adventure", minutes: 119,
            scene: .contours,
            palette: Palette(dark: 0x14302E, deep: 0x2F5D50, middle: 0x9DB17C, light: 0xF2E8CF, accent: 0xBC4749),
            overview: "She maps places on the day before they appear."),
    ]
}
