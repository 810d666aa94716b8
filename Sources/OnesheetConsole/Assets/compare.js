// Two pictures of the same size, one above the other, with a slider between them.
import { h } from "./dom.js";
import { pictureFacts, Problem } from "./api.js";
import { shortReason } from "./notice.js";
import { bytes, percent, t } from "./words.js";

const qualities = ["", "10", "30", "50", "70", "80", "90"];
export const formats = ["", "jpg", "png", "webp", "avif"];

/**
 * @param {{made: object, address: string, another: (changes: {quality: string, format: string}) => Promise<string|null>}} options `made` are the
 *   facts of the picture at `address`
 */
export async function comparison({ made, address, another }) {
  // A PNG is the same in every quality.
  const isLossless = made.mediaType === "image/png";
  const quality = choice("compare-quality", t("field_quality"), qualities, isLossless ? "" : "30");
  const format = choice("compare-format", t("field_format"), formats, isLossless ? "webp" : "");
  const stage = h("div.compare");
  const words = h("p.faint", { role: "status" });
  const box = h("section.comparison", {}, h("h2", {}, t("compare")), h("p.actions", {}, quality.node, format.node), stage, words);
  for (const each of [quality, format]) each.select.addEventListener("change", () => show());
  let turn = 0;
  await show();
  return box;

  async function show() {
    const own = ++turn;
    try {
      const second = await another({ quality: quality.select.value, format: format.select.value });
      const facts = second && await pictureFacts(second);
      if (own !== turn) return;
      if (!second) {
        words.replaceChildren();
        return stage.replaceChildren();
      }
      const [width, height] = made.size?.split("x") ?? [];
      const [left, right] = [[address, "compareLeft"], [second, "compareRight"]].map(([src, words]) => h("img", { src, alt: t(words), width, height }));
      const slider = h("input", { type: "range", min: 0, max: 100, value: 50, id: "slider", "aria-label": t("compare") });
      const move = () => { right.style.clipPath = `inset(0 0 0 ${slider.value}%)`; };
      slider.addEventListener("input", move);
      move();
      stage.replaceChildren(h("div.both", {}, left, right), slider);
      words.textContent = t("compared", { left: bytes(made.bytes ?? 0), right: bytes(facts.bytes ?? 0),
        part: percent((facts.bytes ?? 0) / Math.max(1, made.bytes ?? 1)) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (own !== turn) return;
      stage.replaceChildren();
      words.textContent = shortReason(error);
    }
  }
}

function choice(id, label, choices, value) {
  const select = h("select", { id }, choices.map((each) => h("option", { value: each, selected: each === value }, each.toUpperCase() || t("asLeft"))));
  return { select, node: h("span.field", {}, h("label", { for: id }, label), select) };
}
