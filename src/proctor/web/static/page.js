// What every page does: times in the reader's zone, "?" for the list of keys, "/" for the search.
const two = (value) => String(value).padStart(2, "0");

// From the offset alone: the names of time zones take a browser up to 20 ms to load.
function zone(then) {
  const ahead = -then.getTimezoneOffset();
  const minutes = Math.abs(ahead);
  const hours = `${ahead < 0 ? "−" : "+"}${Math.floor(minutes / 60)}`;
  return `UTC${ahead ? hours : ""}${minutes % 60 ? `:${two(minutes % 60)}` : ""}`;
}

for (const time of document.querySelectorAll("time[datetime]")) {
  const then = new Date(time.dateTime);
  if (Number.isNaN(then.getTime())) continue;
  const day = [then.getFullYear(), two(then.getMonth() + 1), two(then.getDate())].join("-");
  const exact = `${day} ${two(then.getHours())}:${two(then.getMinutes())} ${zone(then)}`;
  if ("ago" in time.dataset) {
    time.title = exact;
  } else {
    time.title = time.textContent;
    time.textContent = exact;
  }
}

const keys = document.querySelector("dialog#keys");
const button = document.querySelector("#keys-button");
if (keys && button) {
  button.hidden = false;
  button.addEventListener("click", () => keys.showModal());
  document.addEventListener("keydown", (event) => {
    const all = event.key === "/" && !keys.open && !document.querySelector('[data-key="/"]');
    if ((event.key !== "?" && !all) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, textarea, select")) return;
    event.preventDefault();
    if (all) document.querySelector("[data-search]").click();
    else if (keys.open) keys.close();
    else keys.showModal();
  });
}

// The theme: what the links of its menu do, without loading the page again.
const themes = document.querySelectorAll("[data-theme-choice]");
for (const link of themes) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const chosen = link.dataset.themeChoice;
    document.documentElement.dataset.theme = chosen;
    document.cookie = `proctor_theme=${chosen}; path=/; max-age=31536000; samesite=strict`;
    for (const one of themes) one.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    link.closest("details").open = false;
  });
}
