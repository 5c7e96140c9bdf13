// A table that is wider than the page scrolls: the keyboard reaches it, as the pointer does.
function reach() {
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
    else each.removeAttribute("tabindex");
  }
}
document$.subscribe(reach); // the theme's: it has wrapped the tables by then
addEventListener("resize", reach);
