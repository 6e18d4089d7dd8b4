// What every page does: times in the reader's zone, and "?" for the list of keys.
for (const time of document.querySelectorAll("time[datetime]")) {
  const then = new Date(time.dateTime);
  if (Number.isNaN(then.getTime())) continue;
  const two = (value) => String(value).padStart(2, "0");
  const day = [then.getFullYear(), two(then.getMonth() + 1), two(then.getDate())].join("-");
  const zone = new Intl.DateTimeFormat(document.documentElement.lang, { timeZoneName: "short" })
    .formatToParts(then)
    .find((part) => part.type === "timeZoneName")?.value;
  time.title = time.textContent;
  time.textContent = `${day} ${two(then.getHours())}:${two(then.getMinutes())} ${zone ?? ""}`;
}

const keys = document.querySelector("dialog#keys");
const button = document.querySelector("#keys-button");
if (keys && button) {
  button.hidden = false;
  button.addEventListener("click", () => keys.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, textarea, select")) return;
    event.preventDefault();
    if (keys.open) keys.close();
    else keys.showModal();
  });
}
