// Before anything is shown: the theme that was chosen in this browser.
try {
  document.documentElement.dataset.theme = localStorage.getItem("proctor_theme") ?? "system";
} catch {}
