// The steps of an agent: the chosen one is in sight, and more of all are there when one reads on.
const outline = document.querySelector(".outline");
const current = outline?.querySelector("[aria-current]");
if (current) outline.scrollTop = current.offsetTop - outline.offsetTop - outline.clientHeight / 3;

const steps = document.querySelector("[data-steps]");
const watch = new IntersectionObserver(
  async (seen) => {
    const link = seen.some((one) => one.isIntersecting) && document.querySelector("[data-more] a");
    if (!link) return;
    watch.disconnect();
    const answer = await fetch(link.href);
    if (!answer.ok) return;
    const found = new DOMParser().parseFromString(await answer.text(), "text/html");
    steps.append(...found.querySelector("[data-steps]").children);
    const more = found.querySelector("[data-more]");
    document.querySelector("[data-more]").replaceWith(more);
    for (const one of steps.children) {
      const own = outline.querySelector(`[href$="#${one.id}"]`);
      if (own) own.href = `#${one.id}`;
    }
    watch.observe(more);
  },
  { rootMargin: "800px" },
);
if (steps) watch.observe(document.querySelector("[data-more]"));
