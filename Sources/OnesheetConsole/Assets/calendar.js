// Days as texts such as 2026-11-20, and a calendar to choose one: by pointer, or by arrow keys, Page Up and Down, Home and End.
import { add, disable, h, icon } from "./dom.js";
import { language, longDay, monthName, shortDay, t, weekdayName } from "./words.js";

const second = 1000;
const sunday = "2023-12-31";
export const plus = (day, count) => text(new Date(date(day).getTime() + count * 86400 * second));
const date = (day) => new Date(day + "T00:00:00Z");
const text = (moment) => moment.toISOString().slice(0, 10);
export const isDay = (value) => /^\d{4}-\d{2}-\d{2}$/.test(value ?? "") && !Number.isNaN(date(value).getTime()) && text(date(value)) === value;
/** 0 is Monday. */
export const weekday = (day) => (date(day).getUTCDay() + 6) % 7;
/** The place of a day in its week as the reader's region writes it; weeks begin on Sunday where the browser does not know. */
const column = (day) => (weekday(day) + 8 - weekStart) % 7;
const region = new Intl.Locale(navigator.languages.find((tag) => tag.startsWith(language)) ?? language);
/** 1 is Monday. */
const weekStart = (region.getWeekInfo?.() ?? region.weekInfo)?.firstDay ?? 7;
const today = () => text(new Date(Date.now() - new Date().getTimezoneOffset() * 60 * second));
export const clamp = (day, first, last) => (first && day < first ? first : last && day > last ? last : day);

function plusMonths(day, count) {
  const moment = date(day.slice(0, 8) + "01");
  moment.setUTCMonth(moment.getUTCMonth() + count);
  const last = new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 0)).getUTCDate();
  return text(moment).slice(0, 8) + String(Math.min(Number(day.slice(8)), last)).padStart(2, "0");
}

/** Why there is no list of `day`; null if there may be one. */
export const outside = (day, first, last) => (first && day < first ? t("beginsOn", { day: shortDay(first) })
  : last && day > last ? t("endsOn", { day: shortDay(last) }) : null);

/**
 * Opens the calendar as a dialog.
 * @param {{day: string, first: string, last: string, choose: (day: string) => void, from: Element}} options
 */
export function openCalendar({ day, first, last, choose, from }) {
  let focused = clamp(day, first, last);
  const heading = h("h2", { "aria-live": "polite", id: "calendar-month" });
  const body = h("tbody");
  const table = h("table", { role: "grid", "aria-labelledby": "calendar-month" },
    h("thead", {}, h("tr", {}, Array.from({ length: 7 }, (_, index) => {
      const some = plus(sunday, index + weekStart);
      return h("th", { scope: "col", abbr: weekdayName(some, "long") }, weekdayName(some, "narrow"));
    }))), body);
  const turns = [];
  const turn = (label, name, months) => {
    const button = h("button.quiet", { type: "button", "aria-label": label, title: label, onclick: () => go(plusMonths(focused, months), false) },
      icon(name), Math.abs(months) > 1 ? icon(name) : null);
    turns.push({ button, label, months });
    return button;
  };
  const dialog = h("dialog.calendar", { "aria-label": t("chooseDay") },
    h("div.months", {}, turn(t("previousYear"), "left", -12), turn(t("previousMonth"), "left", -1), heading,
      turn(t("nextMonth"), "right", 1), turn(t("nextYear"), "right", 12)),
    table,
    h("div.ends", {}, h("button.quiet", { type: "button", onclick: () => pick(last) }, t("newest")),
      h("button.quiet", { type: "button", onclick: () => dialog.close() }, t("close"))));

  function draw(focuses) {
    heading.textContent = monthName(focused);
    for (const { button, label, months } of turns) {
      const end = months < 0 ? first : last;
      disable(button, end?.slice(0, 7) === focused.slice(0, 7) && outside(plusMonths(focused, 1200 * Math.sign(months)), first, last), label);
    }
    const start = focused.slice(0, 8) + "01";
    let cursor = plus(start, -column(start));
    body.replaceChildren();
    // Always as many weeks as the longest month has, so that the buttons stay under the pointer.
    for (let week = 0; week < 6; week++) {
      const row = h("tr");
      for (let index = 0; index < 7; index++, cursor = plus(cursor, 1)) {
        const own = cursor;
        row.append(h("td", { role: "gridcell" }, own.slice(0, 7) !== focused.slice(0, 7) ? null
          : h("button", {
            type: "button", "data-day": own, tabindex: own === focused ? 0 : -1, disabled: outside(own, first, last), "aria-label": longDay(own) + (own === today() ? `, ${t("today")}` : ""), class: own === today() && "today",
            "aria-current": own === day ? "date" : null, onclick: () => pick(own),
          }, String(Number(own.slice(8))))));
      }
      body.append(row);
    }
    if (focuses) body.querySelector(`[data-day="${focused}"]`)?.focus();
  }

  function go(target, focuses = true) {
    focused = clamp(target, first, last);
    draw(focuses);
  }

  function pick(chosen) {
    dialog.close();
    choose(chosen);
  }

  table.addEventListener("keydown", (event) => {
    const target = {
      ArrowLeft: () => plus(focused, -1), ArrowRight: () => plus(focused, 1), ArrowUp: () => plus(focused, -7),
      ArrowDown: () => plus(focused, 7), Home: () => plus(focused, -column(focused)), End: () => plus(focused, 6 - column(focused)),
      PageUp: () => plusMonths(focused, event.shiftKey ? -12 : -1), PageDown: () => plusMonths(focused, event.shiftKey ? 12 : 1),
    }[event.key]?.();
    if (!target) return;
    event.preventDefault();
    go(target);
  });
  // A click beside it closes it.
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    dialog.remove();
    from.focus();
  });
  add(document.body, [dialog]);
  draw(false);
  dialog.showModal();
  body.querySelector(`[data-day="${focused}"]`)?.focus();
}
