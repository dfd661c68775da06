// The report's data out of the page: JSON as it is, or deflated where it would be large.

/** What the page shows. */
export async function read(element) {
  const text = element.textContent;
  if (element.dataset.packed === undefined) return JSON.parse(text);
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}
