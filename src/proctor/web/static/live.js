// A run in progress: asks for what is known of it, and shows it. When it ends, is interrupted, or goes
// on after that, the page is loaded again.
const QUIET = 60000;
const panel = document.querySelector("[data-live]");
const EVERY = panel?.dataset.status === "running" ? 2000 : 5000;
let since = Date.now();

function show(found) {
  for (const fresh of found.querySelectorAll("[data-show]")) {
    const own = panel.querySelector(`[data-show="${fresh.dataset.show}"]`);
    if (own.isEqualNode(fresh)) continue;
    if (["collected", "graded"].includes(fresh.dataset.show)) since = Date.now();
    const focused = own.contains(document.activeElement) && document.activeElement;
    const top = own.scrollTop;
    own.replaceWith(fresh);
    fresh.scrollTop = top;
    if (focused) (fresh.querySelector(`a[href="${focused.getAttribute("href")}"]`) ?? fresh).focus();
  }
  panel.querySelector("[data-quiet]").hidden = panel.dataset.status !== "running" || Date.now() - since < QUIET;
}

async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch(panel.dataset.live);
      if (answer.ok) {
        const found = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (found.querySelector("[data-live]")?.dataset.status !== panel.dataset.status) {
          location.reload();
          return;
        }
        show(found);
      }
    } catch {
      // The server was stopped; it may come back.
    }
  }
  setTimeout(look, EVERY);
}

if (panel) setTimeout(look, EVERY);
