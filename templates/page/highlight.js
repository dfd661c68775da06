// What was searched for, marked in the case without touching its elements.

const NAME = "found";

/** Mark every word within an element; nothing where the browser has no highlights. */
export function highlight(element, words) {
  if (!globalThis.CSS?.highlights) return;
  CSS.highlights.delete(NAME);
  if (words.length > 0) CSS.highlights.set(NAME, new Highlight(...ranges(element, words)));
}

function* ranges(element, words) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue; // another length: places would not fit
    for (const word of words) yield* placesOf(node, text, word);
  }
}

function* placesOf(node, text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
    const range = new Range();
    range.setStart(node, at);
    range.setEnd(node, at + word.length);
    yield range;
  }
}
