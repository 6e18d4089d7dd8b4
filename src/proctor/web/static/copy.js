// Buttons that put a text of the case on the clipboard, as it was written.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = await (await fetch(button.dataset.copy)).text();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without TLS and elsewhere than on this machine there is no other way.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = button.dataset.done;
    button.setAttribute("aria-label", button.dataset.done);
  });
}
