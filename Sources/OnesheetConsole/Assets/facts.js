// What sources know of a title, under one set of names. Each source has words of its own: KOBIS's are documented at
// https://www.kobis.or.kr/kobisopenapi/homepg/apiservice/searchServiceInfo.do.
import { h } from "./dom.js";
import { languageOf } from "./words.js";

const list = (value) => (Array.isArray(value) ? value : typeof value === "string" ? value.split(",") : []);
const name = (value) => (typeof value === "string" ? value.trim() : value?.peopleNm ?? value?.name ?? value?.companyNm ?? "");
const names = (value) => [...new Set(list(value).map(name).filter(Boolean))];
const count = (value) => (Number.isFinite(value) ? value : null);

export function facts(title) {
  const known = title.metadata ?? {};
  return {
    isNew: known.rankOldAndNew === "NEW",
    rankChange: count(known.rankInten),
    audience: count(known.audiCnt),
    audienceTotal: count(known.audiAcc),
    sales: count(known.salesAcc),
    screens: count(known.scrnCnt),
    shows: count(known.showCnt),
    directors: names(known.directors ?? known.director),
    cast: list(known.actors ?? known.cast).map((person) => ({ name: name(person), role: person?.cast ?? person?.character ?? "" }))
      .filter((person) => person.name),
    year: count(known.prdtYear) ?? count(known.year),
    minutes: count(known.showTm) ?? count(known.minutes) ?? count(known.runtime),
    grade: names((known.audits ?? []).map?.((audit) => audit.watchGradeNm ?? "") ?? known.audits).join(", "),
    nations: names(known.nations ?? known.nationAlt),
    genres: names(known.genres ?? known.genreAlt ?? known.genre),
    companies: names(known.companys ?? known.companies),
    attribution: typeof known.attribution === "string" ? known.attribution : "",
    kind: [known.typeNm, known.prdtStatNm].filter(Boolean).join(", "),
  };
}

/** The name of a title, and its other name if it has one. The one in the reader's language is first. */
export function namesOf({ name, originalName }) {
  if (!originalName || originalName === name) return [name];
  return languageOf(name) && !languageOf(originalName) ? [originalName, name] : [name, originalName];
}

/** Where a candidate's picture was found: a site with a link to its page, or a file. */
export function origin({ site, page, name }) {
  // A source may say anything; only addresses of the web become links.
  if (!/^https?:\/\//i.test(page ?? "")) return site ?? page ?? name;
  return h("a", { href: page, rel: "noreferrer noopener", target: "_blank" }, site ?? name);
}
