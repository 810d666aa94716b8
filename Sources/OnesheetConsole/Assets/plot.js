// Lines over time, drawn as SVG.
import { h } from "./dom.js";
import { language, t } from "./words.js";

const [width, height] = [300, 90];

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** How long ago something was: “5 minutes ago”. */
function ago(seconds) {
  const [count, unit] = seconds < 90 ? [seconds, "second"] : seconds < 3300 ? [seconds / 60, "minute"] : [seconds / 3600, "hour"];
  return new Intl.RelativeTimeFormat(language).format(-Math.round(count), unit);
}

/** The unbroken pieces of a line. A missing value ends a piece. */
function pieces(values, most, places) {
  const found = [[]];
  values.forEach((value, index) => {
    if (value === null || value === undefined) {
      if (found.at(-1).length) found.push([]);
      return;
    }
    const x = ((places - values.length + index) / Math.max(1, places - 1)) * width;
    found.at(-1).push([x.toFixed(1), (height - 2 - (value / most) * (height - 6)).toFixed(1)]);
  });
  return found.filter((piece) => piece.length);
}

/**
 * @param {string} label what is plotted
 * @param {{name: string, values: (number|null)[]}[]} lines the oldest value first
 * @param {{format: (value: number) => string, each: number, most?: number}} options `each` is the time from one value to the next in seconds, `most` the top if it is known
 */
export function plot(label, lines, { format, each, most }) {
  const there = lines.filter((line) => line.values.some((value) => value !== null && value !== undefined));
  const all = there.flatMap((line) => line.values).filter((value) => value !== null && value !== undefined);
  const top = most ?? Math.max(...all, 1e-9);
  // A young server has a short past, which takes the whole width.
  const places = Math.max(2, ...lines.map((line) => line.values.length));
  const last = (values) => values.findLast((value) => value !== null && value !== undefined);
  const summary = there.map((line) => `${line.name ? line.name + " " : ""}${format(last(line.values))}`).join(", ");
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", preserveAspectRatio: "none", role: "img",
    "aria-label": `${label}: ${summary || t("noneYet")}` });
  there.forEach((line, index) => {
    for (const piece of pieces(line.values, top, places)) {
      const points = piece.length > 1 ? piece : [[piece[0][0] - 2, piece[0][1]], piece[0]];
      picture.append(svg("polyline", { points: points.map((point) => point.join(",")).join(" "), class: `line-${index}` }));
    }
  });
  return h("figure.plotted", {}, h("figcaption", {}, h("span", {}, label), all.length ? h("span.faint", {}, t("atMost", { value: format(top) })) : null), picture,
    h("p.ends.faint", {}, h("span", {}, all.length ? ago((places - 1) * each) : null), h("span", {}, t("now"))),
    there.length > 1 || there[0]?.name ? h("ul.legend", {}, there.map((line, index) => h("li", {}, h("span", { class: `key line-${index}` }), `${line.name} `,
      h("b", {}, format(last(line.values)))))) : null);
}
