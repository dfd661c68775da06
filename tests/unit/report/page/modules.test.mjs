// The modules of the page that need no browser: node runs these, see test_script.py.

import assert from "node:assert/strict";
import { test } from "node:test";

const modules = "../../../../templates/page";
const { diff } = await import(`${modules}/diff.js`);
const { find, format, parse } = await import(`${modules}/state.js`);
const { counts, matching, sorted, wordsOf } = await import(`${modules}/search.js`);
const { count, some, speak, t } = await import(`${modules}/words.js`);

const side = (steps, gone) => steps.filter(([mark]) => mark !== gone).map(([, text]) => text).join("");

test("a diff holds both texts, whatever they are", () => {
  const random = seeded(7);
  const words = ["a", "bb", " ", "\n", "東京", "駅", "24 °C", "…", "get_weather(", "\u{1f600}", "  "];
  for (let round = 0; round < 400; round += 1) {
    const text = () => Array.from({ length: random(30) }, () => words[random(words.length)]).join("");
    const [before, after] = [text(), text()];
    const steps = diff(before, after);
    assert.equal(side(steps, "+"), before);
    assert.equal(side(steps, "-"), after);
  }
});

test("one changed word in a long answer is one change", () => {
  const long = Array.from({ length: 600 }, (_, n) => `word${n}`);
  const other = long.with(431, "changed");
  const steps = diff(long.join(" "), other.join(" "));
  assert.deepEqual(steps.filter(([mark]) => mark !== "="), [["-", "word431"], ["+", "changed"]]);
});

test("texts with nothing in common are one change, however long", () => {
  const before = Array.from({ length: 3000 }, (_, n) => `a${n}`).join(" ");
  const after = Array.from({ length: 3000 }, (_, n) => `b${n}`).join("\n");
  assert.deepEqual(diff(before, after), [["-", before], ["+", after]]);
});

test("a shared word between two changes is no context", () => {
  assert.deepEqual(diff("x red and blue y", "x green and white y"), [
    ["=", "x "],
    ["-", "red and blue"],
    ["+", "green and white"],
    ["=", " y"],
  ]);
});

test("the address says what is shown, and nothing that is usual", () => {
  assert.equal(format(parse("")), "");
  const hash = "#case=weather%3A%3Aa%2Fb.json%3A%3Aparis&turn=2&q=rain+in&sort=drop&status=flaky&status=regressed";
  assert.equal(format(parse(hash)), hash);
  assert.equal(parse("#turn=-3&sort=nonsense").turn, null);
  assert.equal(parse("#turn=-3&sort=nonsense").sort, "importance");
});

test("a case is found by its address, or by an id that only one has", () => {
  const cases = [{ id: "s::f::paris", name: "paris" }, { id: "s::f::rome", name: "rome" }, { id: "s::g::rome", name: "rome" }];
  assert.equal(find(cases, "s::g::rome"), cases[2]);
  assert.equal(find(cases, "paris"), cases[0]);
  assert.equal(find(cases, "rome"), null);
  assert.equal(find(cases, "oslo"), null);
});

const one = (id, status, more = {}) => ({
  id, name: id, place: `${id}.json:1`, path: `${id}.json`, line: 1, suite: "s", label: status, status, why: [], scores: [], ...more,
});
const turn = { asked: "Is it raining?", expected: null, base: "Yes, it is.", head: "No.", calls: [{ head: { call: 'get_rain(city="Oslo")' } }], judged: [{ subject: "The answer is kind.", reason: "It is curt.", verdicts: "no" }] };
const cases = [
  one("oslo", "regressed", { turns: [turn], drop: -1 }),
  one("rome", "regressed", { why: [["called ", { code: "get_weather" }]], drop: -0.2 }),
  one("lima", "flaky", { suite: "other" }),
];
const state = (changes) => ({ ...parse(""), ...changes });

test("search reads questions, answers, calls, judges and reasons; all words count", () => {
  const found = (query) => matching(cases, state({ query })).map((each) => each.id);
  for (const query of ["raining?", "YES", "get_rain", "curt", "is kind", "oslo"]) {
    assert.deepEqual(found(query), ["oslo"], query);
  }
  assert.deepEqual(found("get_weather"), ["rome"]);
  assert.deepEqual(found("raining get_weather"), []);
  assert.deepEqual(wordsOf("  Two\twords "), ["two", "words"]);
});

test("a facet counts what each of its values would leave, everything else as chosen", () => {
  const chosen = state({ query: "o", facets: { ...parse("").facets, status: new Set(["flaky"]) } });
  assert.deepEqual([...counts(cases, "status", chosen)], [["regressed", 2], ["flaky", 1]]);
  assert.deepEqual([...counts(cases, "suite", chosen)], [["s", 0], ["other", 1]]);
  assert.deepEqual(matching(cases, chosen).map((each) => each.id), ["lima"]);
});

test("orders", () => {
  const names = (sort) => sorted(cases, sort).map((each) => each.id);
  assert.deepEqual(names("importance"), ["oslo", "rome", "lima"]);
  assert.deepEqual(names("drop"), ["oslo", "rome", "lima"]);
  assert.deepEqual(names("name"), ["lima", "oslo", "rome"]);
});

test("phrases are filled, numbers have their thousands apart", () => {
  speak({ "a.one": "{n} case", "a.other": "{n} of {total} cases", b: "{x} and {x}" }, "en");
  assert.equal(some("a", 1), "1 case");
  assert.equal(some("a", 1200, { total: count(10000) }), "1,200 of 10,000 cases");
  assert.equal(t("b", { x: "<b>$&</b>" }), "<b>$&</b> and <b>$&</b>");
});

function seeded(seed) {
  let now = seed;
  return (below) => {
    now = (now * 48271) % 2147483647;
    return now % below;
  };
}
