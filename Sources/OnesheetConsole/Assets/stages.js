// How long the stages of an image took, as bars one after another.
import { h } from "./dom.js";
import { milliseconds, t } from "./words.js";

export const stageNames = ["cache", "origin", "render", "store"];
const name = (stage) => (stageNames.includes(stage) ? t("stage_" + stage) : stage);

/** The stages of a `Server-Timing` field (W3C Server Timing). */
export function readTiming(field) {
  return (field ?? "").split(",").map((part) => /^\s*([\w-]+);dur=([\d.]+)/.exec(part)).filter(Boolean)
    .map(([, stage, duration]) => ({ stage, milliseconds: Number(duration) }));
}

/** @param {{stage: string, milliseconds: number}[]} stages in their order */
export function waterfall(stages) {
  const total = stages.reduce((sum, stage) => sum + stage.milliseconds, 0);
  let before = 0;
  return h("table.waterfall", {}, h("caption.hidden", {}, t("latency")),
    h("tbody", {}, stages.map((stage) => {
      const bar = h("span.span");
      bar.style.marginInlineStart = `${total ? (before / total) * 100 : 0}%`;
      bar.style.width = `${total ? (stage.milliseconds / total) * 100 : 0}%`;
      before += stage.milliseconds;
      return h("tr", {}, h("th", { scope: "row" }, name(stage.stage)), h("td.track", {}, bar), h("td", {}, milliseconds(stage.milliseconds)));
    })),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, t("total")), h("td"), h("td", {}, milliseconds(total)))));
}
