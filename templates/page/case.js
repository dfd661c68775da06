// The case on the right: why it is here, its scores, its turns.

import { h, sentence, sign } from "./dom.js";
import { runs } from "./runs.js";
import { turnView } from "./turn.js";
import { t } from "./words.js";

/** Everything there is to see of a case; `navigation` goes into its head. */
export function caseView(one, { turn = null, navigation = null, everything = false } = {}) {
  return h(
    "article",
    { class: "case", "aria-labelledby": everything ? null : "case-name" },
    head(one, navigation, everything),
    one.why.length ? h("ul", { class: "reasons" }, one.why.map((said) => h("li", {}, sentence(said)))) : null,
    scores(one),
    errors(one),
    (one.turns ?? []).map((each, index) => {
      const open = everything || turn === index + 1 || (turn === null && unfolded(one, each));
      return turnView(each, index + 1, { open, alone: one.turns.length === 1, paper: everything });
    }),
    runs(one.made ?? [], everything),
    one.turns ? null : quiet(one),
  );
}

function unfolded(one, turn) {
  return turn.differs || one.turns.length === 1 || !one.turns.some((each) => each.differs);
}

function head(one, navigation, everything) {
  const place = one.url ? h("a", { href: one.url, rel: "noreferrer" }, one.place) : one.place;
  return h(
    "header",
    {},
    navigation,
    h(
      "h2",
      { id: everything ? null : "case-name", tabindex: everything ? null : "-1" },
      sign(one.sign),
      h("span", {}, one.name),
    ),
    h(
      "p",
      { class: "facts" },
      h("span", { class: `chip ${one.sign}` }, one.label),
      one.blocking ? h("span", { class: "chip blocks" }, t("label.blocking")) : null,
      h("span", { class: "place" }, one.suite ? `${one.suite} · ` : "", place),
    ),
    one.remark ? h("p", { class: "remark" }, one.remark) : null,
  );
}

const COLUMNS = ["criterion", "base", "head", "needed", "runs", "p", "verdict"];
const NUMBERS = new Set(["base", "head", "needed"]);

function scores(one) {
  if (one.scores.length === 0) return null;
  const heads = COLUMNS.map((name) =>
    h("th", { scope: "col", class: NUMBERS.has(name) ? "n" : null }, t(`column.${name}`)),
  );
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": t("page.scores") },
    h(
      "table",
      { class: "stack" },
      h("thead", {}, h("tr", {}, heads)),
      h("tbody", {}, one.scores.map(score)),
    ),
  );
}

function score(row) {
  const cells = COLUMNS.slice(1).map((name) =>
    h(
      "td",
      {
        "data-label": name === "verdict" ? null : t(`column.${name}`),
        class: NUMBERS.has(name) ? "n" : null,
      },
      name === "verdict" && row.sign ? [sign(row.sign), " "] : null,
      row[name],
    ),
  );
  const name = h("th", { scope: "row" }, h("code", {}, row.name));
  return h("tr", { class: row.attention ? "attention" : null }, name, cells);
}

function errors(one) {
  return ["base", "head"]
    .filter((side) => one.errors?.[side])
    .map((side) => {
      const title = t("page.failed", { side: t(`side.${side}`) });
      return h("section", {}, h("h4", {}, title), h("pre", { class: "log", tabindex: "0" }, one.errors[side]));
    });
}

/** A case that needs no attention: its first question, where the report has it. */
function quiet(one) {
  const said = h("div", { class: "said" }, one.asked ?? "");
  return [
    one.asked ? h("section", { class: "asked" }, h("h4", {}, t("page.asked")), said) : null,
    h("p", { class: "soft" }, t("page.quiet")),
  ];
}
