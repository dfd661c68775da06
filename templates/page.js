const box = document.querySelector("#filter");
const cases = [...document.querySelectorAll("article")];
box.hidden = false;
box.addEventListener("input", () => {
  const wanted = box.value.trim().toLowerCase();
  for (const one of cases) one.hidden = !one.dataset.find.toLowerCase().includes(wanted);
  if (wanted) for (const fold of document.querySelectorAll("details.section")) fold.open = true;
});
