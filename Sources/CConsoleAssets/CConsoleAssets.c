#include "CConsoleAssets.h"

// The files belong to a Swift target, which cannot embed data. The compiler embeds each unchanged here.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "../OnesheetConsole/Assets/index.html"
};
static const unsigned char console_css[] = {
#embed "../OnesheetConsole/Assets/console.css"
};
static const unsigned char icon_svg[] = {
#embed "../OnesheetConsole/Assets/icon.svg"
};
static const unsigned char main_js[] = {
#embed "../OnesheetConsole/Assets/main.js"
};
static const unsigned char api_js[] = {
#embed "../OnesheetConsole/Assets/api.js"
};
static const unsigned char dom_js[] = {
#embed "../OnesheetConsole/Assets/dom.js"
};
static const unsigned char words_js[] = {
#embed "../OnesheetConsole/Assets/words.js"
};
static const unsigned char facts_js[] = {
#embed "../OnesheetConsole/Assets/facts.js"
};
static const unsigned char notice_js[] = {
#embed "../OnesheetConsole/Assets/notice.js"
};
static const unsigned char thumbhash_js[] = {
#embed "../OnesheetConsole/Assets/thumbhash.js"
};
static const unsigned char poster_js[] = {
#embed "../OnesheetConsole/Assets/poster.js"
};
static const unsigned char calendar_js[] = {
#embed "../OnesheetConsole/Assets/calendar.js"
};
static const unsigned char list_js[] = {
#embed "../OnesheetConsole/Assets/list.js"
};
static const unsigned char outline_js[] = {
#embed "../OnesheetConsole/Assets/outline.js"
};
static const unsigned char title_js[] = {
#embed "../OnesheetConsole/Assets/title.js"
};
static const unsigned char posters_js[] = {
#embed "../OnesheetConsole/Assets/posters.js"
};
static const unsigned char figures_js[] = {
#embed "../OnesheetConsole/Assets/figures.js"
};
static const unsigned char sources_js[] = {
#embed "../OnesheetConsole/Assets/sources.js"
};
static const unsigned char session_js[] = {
#embed "../OnesheetConsole/Assets/session.js"
};
static const unsigned char stages_js[] = {
#embed "../OnesheetConsole/Assets/stages.js"
};
static const unsigned char explain_js[] = {
#embed "../OnesheetConsole/Assets/explain.js"
};
static const unsigned char plot_js[] = {
#embed "../OnesheetConsole/Assets/plot.js"
};
static const unsigned char try_js[] = {
#embed "../OnesheetConsole/Assets/try.js"
};
static const unsigned char films_js[] = {
#embed "../OnesheetConsole/Assets/films.js"
};
static const unsigned char compare_js[] = {
#embed "../OnesheetConsole/Assets/compare.js"
};
static const unsigned char orders_js[] = {
#embed "../OnesheetConsole/Assets/orders.js"
};
static const unsigned char words_tools_js[] = {
#embed "../OnesheetConsole/Assets/words-tools.js"
};

#define ASSET(name, bytes) {name, bytes, sizeof bytes}

static const struct cconsole_asset assets[] = {
    ASSET("index.html", index_html),
    ASSET("console.css", console_css),
    ASSET("icon.svg", icon_svg),
    ASSET("main.js", main_js),
    ASSET("api.js", api_js),
    ASSET("dom.js", dom_js),
    ASSET("words.js", words_js),
    ASSET("facts.js", facts_js),
    ASSET("notice.js", notice_js),
    ASSET("thumbhash.js", thumbhash_js),
    ASSET("poster.js", poster_js),
    ASSET("calendar.js", calendar_js),
    ASSET("list.js", list_js),
    ASSET("outline.js", outline_js),
    ASSET("title.js", title_js),
    ASSET("posters.js", posters_js),
    ASSET("figures.js", figures_js),
    ASSET("sources.js", sources_js),
    ASSET("session.js", session_js),
    ASSET("stages.js", stages_js),
    ASSET("explain.js", explain_js),
    ASSET("plot.js", plot_js),
    ASSET("try.js", try_js),
    ASSET("films.js", films_js),
    ASSET("compare.js", compare_js),
    ASSET("orders.js", orders_js),
    ASSET("words-tools.js", words_tools_js),
    {0},
};

struct cconsole_asset cconsole_asset(size_t index) { return assets[index]; }
