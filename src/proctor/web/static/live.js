// A run in progress: asks for its numbers, and shows them; when it ends, the page is loaded again.
const EVERY = 2000;
const QUIET = 60000;
const panel = document.querySelector("[data-live]");
const zone = (name) => panel.querySelector(`[data-show="${name}"]`);
const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(1)}%`);
let last = "";
let since = Date.now();

function span(seconds) {
  if (seconds === null) return "–";
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function row(found) {
  const item = document.createElement("li");
  const pill = document.createElement("span");
  const name = document.createElement("span");
  const why = document.createElement("span");
  const right = found.value !== null && found.value >= found.full;
  const known = found.value !== null && found.status !== "unscored";
  pill.className = `pill ${!known ? "none" : right ? "good" : found.value > 0 ? "warn" : "bad"}`;
  const share = found.full ? found.value / found.full : 0;
  pill.textContent = known ? `${right ? "✓" : found.value > 0 ? "◐" : "✗"} ${Math.round(100 * share)}%` : "⚠";
  name.className = "mono";
  name.textContent = found.id;
  why.className = "faint";
  why.textContent = found.reason || found.answer;
  item.append(pill, " ", name, " ", why);
  return item;
}

function criterion(found) {
  const item = document.createElement("li");
  const [name, rate, rest] = ["span", "b", "span"].map((kind) => document.createElement(kind));
  name.className = "mono";
  name.textContent = found.id;
  rate.textContent = percent(found.rate);
  rest.className = "faint";
  const range = found.interval ? `${found.interval.map(percent).join("–")} · ` : "";
  rest.textContent = range + zone("criteria").dataset.count.replace("{count}", found.cases);
  item.append(name, " ", rate, " ", rest);
  return item;
}

function show(found) {
  zone("waiting").hidden = !found.waiting;
  zone("criteria").hidden = !found.criteria.length;
  zone("criteria").replaceChildren(...found.criteria.map(criterion));
  zone("rate").textContent = percent(found.rate);
  zone("interval").textContent = found.interval ? found.interval.map(percent).join("–") : "–";
  for (const [name, most] of [["collected", found.total], ["graded", found.cases]]) {
    const bar = panel.querySelector(`[data-bar="${name}"]`);
    bar.max = most;
    bar.value = found[name];
    zone(name).textContent = `${found[name]}/${most}`;
  }
  zone("errors").textContent = found.errors;
  zone("unscored").textContent = found.unscored;
  zone("per_minute").textContent = found.per_minute === null ? "–" : found.per_minute.toPrecision(3);
  zone("remaining").textContent = span(found.remaining);
  zone("latest").replaceChildren(...found.latest.map(row));
  const now = `${found.collected} ${found.graded}`;
  if (now !== last) since = Date.now();
  last = now;
  zone("quiet").hidden = Date.now() - since < QUIET;
  zone("quiet").textContent = panel.dataset.quiet;
}

async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch(panel.dataset.live);
      if (answer.ok) {
        const found = await answer.json();
        if (found.status !== "running") {
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
