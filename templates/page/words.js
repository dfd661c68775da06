// The page's own phrases and numbers, in the report's language.

let phrases = {};
let language = "en";

/** Say everything from here on in these phrases. */
export function speak(words, tongue) {
  phrases = words;
  language = tongue;
}

/** A phrase with its holes filled. */
export function t(key, holes = {}) {
  return phrases[key].replace(/\{(\w+)\}/g, (_, hole) => String(holes[hole]));
}

/** The phrase for so many of something. */
export function some(key, number, holes = {}) {
  const form = number === 1 ? "one" : "other";
  return t(`${key}.${form}`, { n: count(number), ...holes });
}

/** A whole number with its thousands apart. */
export function count(number) {
  return number.toLocaleString(language);
}
