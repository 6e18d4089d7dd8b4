// A search that is not at its end: asks for the list again and again until it is, and shows it.
const PAUSE = 30;
const LATER = 2000;

function show(found) {
  for (const own of document.querySelectorAll("[data-found]")) {
    const other = found.querySelector(`[data-found="${own.dataset.found}"]`);
    if (!other || other.innerHTML === own.innerHTML) continue;
    const row = own.contains(document.activeElement) && document.activeElement.closest("[id]");
    own.replaceChildren(...other.childNodes);
    if (row) document.getElementById(row.id)?.querySelector("a")?.focus();
  }
}

async function goOn() {
  let pause = PAUSE;
  try {
    const answer = document.hidden ? null : await fetch(location.href, { headers: { "proctor-going-on": "1" } });
    if (answer?.ok) show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    else pause = LATER;
  } catch {
    pause = LATER; // The server was stopped; it may come back.
  }
  if (document.querySelector("[data-scanning]")) setTimeout(goOn, pause);
}

if (document.querySelector("[data-scanning]")) setTimeout(goOn, PAUSE);
