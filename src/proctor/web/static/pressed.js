// Follow a link or press a button by its key; never while somebody is writing.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
  const found = [...document.querySelectorAll("[data-key]")].find(
    (element) => element.dataset.key.split(" ").includes(event.key),
  );
  if (found) {
    event.preventDefault();
    found.click();
  }
});
