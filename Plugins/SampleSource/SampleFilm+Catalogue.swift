extension SampleFilm {
    /// All films, by number. Every name and plot is invented.
    static let catalogue: [SampleFilm] = [
        Self(
            1, "The Lighthouse of Salt", "소금 등대", "2026-10-28", "Drama", 118, .sea,
            Palette(0x0B1B33, 0x1D4E7A, 0xE0735A, 0xFFD9A0, accent: 0xFFB347), top: true, width: 2000,
            "The last keeper of a lighthouse carved from rock salt has one summer before the rain reaches it."),
        Self(
            2, "Paper Mountains", "종이 산맥", "2026-11-04", "Adventure", 104, .mountains,
            Palette(0x1A1333, 0x4B2E6B, 0xC0567B, 0xFFD3B5, accent: 0xFFF1C9), top: true,
            "Two mapmakers climb a range that exists only on the map they drew themselves."),
        Self(
            3, "Last Bus to Hanbit", "한빛행 막차", "2026-09-16", "Mystery", 97, .road,
            Palette(0x120A22, 0x2B1B4D, 0x6A3D7C, 0xF08A5D, accent: 0xFFD166), top: true,
            "Eleven passengers board the night bus; at every stop it is a different year."),
        Self(
            4, "Seven Quiet Moons", "일곱 개의 고요한 달", "2026-11-11", "Science fiction", 136, .orbit,
            Palette(0x05060F, 0x14204A, 0x35508F, 0xE9E3D0, accent: 0xF2A65A), width: 2000,
            "A radio operator at the edge of the system hears seven moons fall silent, one each night."),
        Self(
            5, "Rain Over Line Nine", "구호선의 비", "2026-08-19", "Crime", 111, .noir,
            Palette(0x0A0C10, 0x1B2430, 0x5B6B7B, 0xF5E6C8, accent: 0xB8860B),
            "It has rained inside one subway station for a week, and only a retired inspector is dry."),
        Self(
            6, "The Clockmaker's Orchard", "시계공의 과수원", "2026-10-07", "Fantasy", 108, .forest,
            Palette(0x0E1F1A, 0x1F4A3A, 0x6C9A78, 0xEAF0D0, accent: 0xFFE08A),
            "Trees that bear clocks have ripened early, and someone is picking them before their time."),
        Self(
            7, "Neon Tangerine", "네온 귤", "2026-07-22", "Comedy", 92, .rays,
            Palette(0x2B1D3A, 0xC8553D, 0xF2A541, 0xFFF3D6, accent: 0xE8452C),
            "A fruit seller's bird becomes the most wanted stylist of the harbour district."),
        Self(
            8, "A Theory of Kites", "연의 이론", "2026-05-13", "Romance", 101, .shapes,
            Palette(0x1E2749, 0x30638E, 0xD1495B, 0xF4EBD9, accent: 0xEDAE49),
            "Two physicists who disagree about everything share one string."),
        Self(
            9, "Lantern Season", "등불의 계절", "2026-11-18", "Family", 99, .lanterns,
            Palette(0x1A0A14, 0x4A1530, 0x8C2F39, 0xFFE9B0, accent: 0xFF8C42),
            "In the week of lanterns a girl repairs the light of everyone who has forgotten a promise."),
        Self(
            10, "Signal from Dokkum Bay", "독금만의 신호", "2026-06-10", "Thriller", 122, .ridges,
            Palette(0x050507, 0x10141C, 0x2A3240, 0xF4F4F0, accent: 0x9FD8CB),
            "A bay without a single antenna answers every call, politely, in the caller's own voice."),
        Self(
            11, "Glass Winter", "유리 겨울", "2026-01-14", "Drama", 128, .mountains,
            Palette(0x0B1D2E, 0x2A5573, 0x8FB8CE, 0xF3FAFC, accent: 0xFFFFFF), top: true,
            "A glazier carries one unbroken pane across a frozen country."),
        Self(
            12, "The Borrowed Island", "빌린 섬", "2026-04-01", "Adventure", 106, .cut,
            Palette(0x06262B, 0x0E5A5F, 0x3AA89F, 0xC9F0DD, accent: 0xFFC857),
            "Three siblings rent an island for a weekend and cannot find where to give it back."),
        Self(
            13, "Midnight Carpenters", "한밤의 목수들", "2026-03-18", "Fantasy", 114, .city,
            Palette(0x080A1C, 0x141B3C, 0x3B4A86, 0xFFF2CC, accent: 0xFFCF5C), top: true, width: 2000,
            "While the city sleeps a guild moves its walls by a hand's breadth, and one night a wall moves back."),
        Self(
            14, "Salt and Static", "소금과 잡음", "2025-12-03", "Music", 95, .ridges,
            Palette(0x1B0510, 0x3A0B22, 0x6E1A3C, 0xFFD6C0, accent: 0xFF5D73),
            "A fishing village's choir learns to sing a broken radio's one station."),
        Self(
            15, "Orbit of Small Things", "작은 것들의 궤도", "2025-10-22", "Science fiction", 131, .orbit,
            Palette(0x0A0612, 0x2B1244, 0x7A2E6E, 0xFFE3D8, accent: 0x7FE7DC),
            "A seamstress repairs spacesuits and finds a pocket that was not there before."),
        Self(
            16, "The Tailor of Fog", "안개 재단사", "2025-11-12", "Fantasy", 103, .forest,
            Palette(0x15131F, 0x37344F, 0x8A86A6, 0xECE7F0, accent: 0xFFC9B9),
            "He cuts coats from morning fog; by noon his customers are never seen again."),
        Self(
            17, "Eleven Staircases", "열한 개의 계단", "2025-09-03", "Mystery", 109, .stairs,
            Palette(0x23132B, 0x5C2751, 0xA23B5A, 0xFCEBD0, accent: 0xF7B267), top: true,
            "A house with one floor and eleven staircases is for sale to anyone who can count them."),
        Self(
            18, "Copper Sparrow", "구리 참새", "2025-07-09", "Animation", 88, .rays,
            Palette(0x0C2A33, 0x17606B, 0x54B7A6, 0xF3F6E4, accent: 0xD9793D),
            "A clockwork sparrow applies for a licence to migrate."),
        Self(
            19, "Harbor Without Maps", "지도 없는 항구", "2025-05-28", "Drama", 116, .sea,
            Palette(0x0A1416, 0x14363B, 0x2F7D7A, 0xD8F0DC, accent: 0xF6F7D7), top: true,
            "Ships arrive at a harbour that no chart shows, and none of their captains meant to."),
        Self(
            20, "Noodles at the End", "끝에서 먹는 국수", "2025-04-16", "Comedy", 94, .lanterns,
            Palette(0x06141F, 0x0F3A52, 0x2E7F94, 0xFFF4C7, accent: 0xF25F5C),
            "The last noodle stall before the end of the world is always full on Thursdays."),
        Self(
            21, "The Violet Hour Train", "보랏빛 열차", "2025-02-12", "Romance", 107, .road,
            Palette(0x0E1030, 0x2C2470, 0x7B4BB7, 0xE9B7D6, accent: 0xFF9EC4), top: true,
            "A train that runs only at dusk has one compartment for everyone who missed it."),
        Self(
            22, "Tenth Floor Garden", "십층 정원", "2025-03-19", "Family", 96, .city,
            Palette(0x0A1F1C, 0x12413A, 0x3E8C6E, 0xF4F1C6, accent: 0xFFA45B), top: true,
            "A lift that stops between floors opens on somebody's vegetable garden."),
        Self(
            23, "Ink Tide", "먹물 파도", "2024-12-11", "Thriller", 124, .cut,
            Palette(0x0B0B12, 0x2A2A3C, 0x66667F, 0xD9D6E5, accent: 0xF04A3E), width: 2000,
            "Every seventh wave leaves a line of writing on the beach, and the story is about the reader."),
        Self(
            24, "Tomorrow's Cartographer", "내일의 지도장이", "2024-10-02", "Adventure", 119, .contours,
            Palette(0x14302E, 0x2F5D50, 0x9DB17C, 0xF2E8CF, accent: 0xBC4749), "She maps places on the day before they appear."),
    ]
}
