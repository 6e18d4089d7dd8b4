// No more runs can be chosen than can be compared, and nothing is done with fewer than two.
for (const form of document.querySelectorAll("form[data-most]")) {
  const boxes = [...form.querySelectorAll('input[type="checkbox"]')];
  const buttons = form.querySelectorAll("button");
  const most = Number(form.dataset.most);
  const look = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    for (const box of boxes) box.disabled = !box.checked && chosen >= most;
    for (const button of buttons) button.disabled = chosen < 2;
  };
  form.addEventListener("change", look);
  look();
}
