// What a report does with scripts: draws its figures from their JSON, and folds its sections.

import { download, keepDrawn, toSVG } from "./plot";
import type { Figure } from "./figure";

const printed: (() => void)[] = [];
for (const el of document.querySelectorAll<HTMLElement>("figure.plot")) {
  const figure: Figure = JSON.parse(el.querySelector("script")!.textContent!);
  const tools = document.createElement("span");
  tools.className = "tools";
  for (const kind of ["csv", "svg"] as const) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.textContent = kind.toUpperCase();
    button.addEventListener("click", () => download(figure, kind));
    tools.append(button);
  }
  el.querySelector("figcaption")!.append(tools);
  const box = document.createElement("div");
  box.className = "canvas";
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", `${figure.title}; its numbers are in a table below`);
  el.querySelector("figcaption")!.after(box);
  el.classList.add("drawn");
  keepDrawn(box, figure);
  const table = el.querySelector("details")!;
  if (!table.classList.contains("stays")) table.open = false;
  printed.push(() => {
    if (el.querySelector(".print")) return;
    const picture = document.createElement("div");
    picture.className = "print";
    picture.append(new DOMParser().parseFromString(toSVG(figure), "image/svg+xml").documentElement);
    box.after(picture);
  });
}
for (const wide of document.querySelectorAll<HTMLElement>(".wide")) wide.tabIndex = 0; // so that keys can scroll it
const sections = [...document.querySelectorAll<HTMLDetailsElement>("details.section")];
sections.forEach((d, i) => (d.open = i === 0));
addEventListener("beforeprint", () => {
  printed.forEach((f) => f());
  sections.forEach((d) => (d.open = true));
});
