// Puts the page together: the state is in the address, everything else follows from it.

import { caseView } from "./case.js";
import { read } from "./data.js";
import { h, sign } from "./dom.js";
import { closeFolds, facetsView } from "./facets.js";
import { highlight } from "./highlight.js";
import { listenToKeys } from "./keys.js";
import { CaseList } from "./list.js";
import { expandWhenPrinted } from "./print.js";
import { counts, matching, sorted, wordsOf } from "./search.js";
import { find, format, parse } from "./state.js";
import { count, speak, some, t } from "./words.js";

const at = (id) => document.getElementById(id);

class Page {
  constructor(data) {
    this.data = data;
    this.list = new CaseList(at("list"), (one) => this.address({ case: one.id, turn: null }));
    this.state = parse(location.hash);
    this.asFound = null;
  }

  /** The address that shows the same but for some of it. */
  address(changes) {
    return format({ ...this.state, ...changes }) || "#";
  }

  /** Go on from here: a step in the browser's history where `step`, else in its place. */
  go(changes, { step = false } = {}) {
    const where = location.pathname + location.search + format({ ...this.state, ...changes });
    history[step ? "pushState" : "replaceState"](null, "", where);
    this.follow();
  }

  /** Show what the address says. */
  follow() {
    const before = this.state;
    this.state = parse(location.hash);
    const one = this.state.case === null ? null : find(this.data.cases, this.state.case);
    this.showList();
    this.showCase(one, before);
    const words = this.state.case === null ? [] : wordsOf(this.state.query);
    highlight(at("case"), words);
  }

  showList() {
    const { facets, query, sort } = this.state;
    const asFound = format({ ...this.state, case: null, turn: null });
    if (asFound === this.asFound) return;
    this.asFound = asFound;
    if (at("search").value.trim() !== query) at("search").value = query;
    at("sort").value = sort;
    const focused = document.activeElement?.dataset?.key;
    at("facets").replaceChildren(...facetsView(this.data, this.state, (...of) => this.toggle(...of)));
    if (focused) this.focusKey(focused);
    const found = sorted(matching(this.data.cases, this.state), sort);
    this.list.show(found, sort === "importance" ? this.data.statuses : null);
    at("list").scrollTop = 0;
    const narrowed = query !== "" || Object.values(facets).some((chosen) => chosen.size > 0);
    at("counted").textContent = narrowed
      ? some("page.found", found.length, { total: count(this.data.cases.length) })
      : some("cases", found.length);
    at("clear").hidden = !narrowed;
    at("nothing").hidden = found.length > 0;
    at("list").hidden = found.length === 0;
  }

  focusKey(key) {
    [...at("facets").querySelectorAll("[data-key]")].find((one) => one.dataset.key === key)?.focus();
  }

  toggle(name, value) {
    const chosen = new Set(this.state.facets[name]);
    if (!chosen.delete(value)) chosen.add(value);
    this.go({ facets: { ...this.state.facets, [name]: chosen } });
  }

  clear() {
    const none = parse("");
    this.go({ query: "", facets: none.facets });
    at("search").focus();
  }

  showCase(one, before) {
    const missing = this.state.case !== null && one === null;
    document.body.classList.toggle("reading", this.state.case !== null);
    at("overview").hidden = this.state.case !== null;
    at("case").hidden = this.state.case === null;
    this.list.select(one?.id ?? null);
    if (missing) at("case").replaceChildren(this.navigation(null), h("p", {}, t("page.no_case", { case: this.state.case })));
    if (!one) return;
    const shown = before.case === this.state.case && before.turn === this.state.turn;
    if (!shown || at("case").childElementCount === 0) this.open(one);
  }

  open(one) {
    const { turn } = this.state;
    at("case").replaceChildren(caseView(one, { turn, navigation: this.navigation(one) }));
    at("case").scrollTop = 0;
    const target = turn === null ? null : at(`turn-${turn}`);
    if (target) {
      target.scrollIntoView();
      target.classList.add("target");
      target.querySelector("summary").focus();
    }
  }

  navigation(one) {
    const back = h("a", { class: "back", href: this.address({ case: null, turn: null }) }, sign("back"), t("page.overview"));
    const place = one ? this.list.placeOf(one.id) : 0;
    const links = place
      ? [-1, 1].map((step) => {
          const next = this.list.neighbour(one.id, step);
          const title = t(step < 0 ? "page.previous" : "page.next");
          const name = step < 0 ? "up" : "down";
          return next
            ? h("a", { href: this.address({ case: next.id, turn: null }), "aria-label": title, title }, sign(name))
            : h("span", { class: "off" }, sign(name));
        })
      : [];
    const where = place ? t("page.place", { n: count(place), total: count(this.list.cases.length) }) : "";
    return h("nav", { class: "path", "aria-label": t("page.navigation") }, back, h("span", { class: "steps" }, h("span", {}, where), links));
  }

  /** To the next case or the one before: opened where one is open, else only marked. */
  move(step) {
    const open = this.state.case === null ? null : find(this.data.cases, this.state.case);
    const next = this.list.neighbour(open?.id ?? this.list.selected, step);
    if (!next) return;
    if (open) this.go({ case: next.id, turn: null });
    this.list.focus(next.id);
  }
}

function wire(page) {
  addEventListener("hashchange", () => page.follow());
  addEventListener("click", ({ target }) => closeFolds(target));
  addEventListener("popstate", () => page.follow());
  at("search").addEventListener("input", ({ target }) => page.go({ query: target.value.trim() }));
  at("sort").addEventListener("change", ({ target }) => page.go({ sort: target.value }));
  at("clear").addEventListener("click", () => page.clear());
  at("keys").addEventListener("click", () => at("help").showModal());
  at("skip").addEventListener("click", (event) => {
    event.preventDefault();
    page.list.focus(page.list.selected ?? page.list.cases[0]?.id);
  });
  at("clear-all").addEventListener("click", () => page.clear());
  listenToKeys({
    search: () => at("search").focus(),
    next: () => page.move(1),
    previous: () => page.move(-1),
    open: () => page.list.selected && page.go({ case: page.list.selected, turn: null }, { step: true }),
    close: () => closeFolds() || page.go({ case: null, turn: null }, { step: true }),
    help: () => at("help").showModal(),
  });
}

async function start() {
  const data = await read(at("data"));
  speak(data.phrases, data.language);
  const page = new Page(data);
  document.body.classList.add("alive");
  wire(page);
  expandWhenPrinted(data);
  page.follow();
}

start().catch((error) => {
  at("trouble").hidden = false;
  throw error;
});
