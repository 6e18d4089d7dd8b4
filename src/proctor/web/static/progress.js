// Asks every few seconds how far the running runs of this page are; a run that ended reloads it.
const EVERY = 2000;

async function look(bar) {
  const answer = await fetch(bar.dataset.progress);
  if (!answer.ok) return;
  const found = await answer.json();
  if (found.status !== "running") {
    location.reload();
    return;
  }
  bar.max = found.total;
  bar.value = found.done;
  if (bar.nextElementSibling) bar.nextElementSibling.textContent = `${found.done}/${found.total}`;
}

async function again() {
  if (!document.hidden) {
    for (const bar of document.querySelectorAll("[data-progress]")) {
      try {
        await look(bar);
      } catch {
        // The server was stopped; it may come back.
      }
    }
  }
  setTimeout(again, EVERY);
}

if (document.querySelector("[data-progress]")) setTimeout(again, EVERY);
