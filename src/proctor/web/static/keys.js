// Keys for tables: "/" goes to the search, "n" to the next page, j and k from row to row.
function typing(target) {
  return target instanceof HTMLElement && target.matches("input, select, textarea");
}

function step(by) {
  const rows = [...document.querySelectorAll("table.cases tbody tr, ol.found li")]
    .map((row) => row.querySelector("a"))
    .filter(Boolean);
  const at = rows.indexOf(document.activeElement);
  const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by));
  rows[next]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const act = {
    "/": () => document.querySelector('[data-key="/"]')?.focus(),
    n: () => document.querySelector('a[rel="next"]')?.click(),
    j: () => step(1),
    k: () => step(-1),
    s: () => document.querySelector('[data-key="s"]')?.click(),
  }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});

// Back from a case: its row is where j and k go on.
addEventListener("load", () => document.querySelector("tr:target a")?.focus());
