// Which sources there are, how each is, and how to add one.
import "./words-tools.js";
import { copyButton, h } from "./dom.js";
import { sources, view } from "./api.js";
import { illness } from "./list.js";
import { shortDay, t } from "./words.js";

const ways = [
  ["wayStandard", "sources:\n  art:\n    type: folder\n    path: /srv/posters"],
  ["wayManifest", "sources:\n  films:\n    type: rest\n    manifest: films.yaml\n    variables: { key: \"${FILMS_KEY}\" }"],
  ["wayProgram", "sources:\n  mine:\n    type: exec\n    command: [python3, source.py]"],
  ["waySwift", "swift package new-source Mine\nswift test --filter MineSourceTests"],
];

export async function sourcesView() {
  const known = await sources(true);
  return {
    title: t("sourcesView"),
    node: h("div.board", {}, h("h1", { tabindex: "-1" }, t("sourcesView")),
      h("div.figures", {}, known.map((source) => h("section.card-box", {},
        h("h2", {}, source.hasLists ? h("a", { href: view({ source: source.name }) }, source.name) : source.name),
        source.state === "well" ? h("p.well", {}, t("well")) : h("div.alarm", {}, illness(source)),
        h("dl.pairs", {}, h("dt", {}, t("type")), h("dd", {}, h("code", {}, source.type)),
          h("dt", {}, t("lists")), h("dd", {}, !source.hasLists ? t("none") : source.periods.length ? source.periods.map((period) => t(period)).join(", ") : t("oneList")),
          source.firstDay ? [h("dt", {}, t("days")), h("dd", {}, [source.firstDay, source.lastDay].map((day, index) => [index ? " – " : null, h("time", { datetime: day }, shortDay(day))]))] : [],
          h("dt", {}, t("search")), h("dd", {}, t(source.searches ? "yes" : "none")))))),
      h("h2.add", {}, t("addSource")), h("p.faint", {}, t("addSourceHelp")),
      h("div.ways", {}, ways.map(([name, start]) => h("section", {}, h("h3", {}, t(name), copyButton(start, `${t("copy")}: ${t(name)}`, t("copied"))),
        h("p.faint", {}, t(name + "Help")), h("pre", { tabindex: "0" }, h("code", {}, start)))))),
  };
}
