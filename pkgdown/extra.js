// What a page does in the browser: contents beside the text, copies of code, search. All of it comes from this site.

const root = document.currentScript.src.replace(/extra\.js.*$/, "");

document.addEventListener("DOMContentLoaded", () => {
  addContents();
  addCopyButtons();
  addSearch();
  openToKeys();
  window.addEventListener("resize", openToKeys);
});

// Code, tables and formulas that are wider than the page move within themselves, also by keys.
function openToKeys() {
  for (const block of document.querySelectorAll("main pre, main table, main math[display=block]")) {
    if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
    else block.removeAttribute("tabindex");
  }
}

function add(parent, tag, className, text) {
  const element = parent.appendChild(document.createElement(tag));
  element.className = className;
  element.textContent = text;
  return element;
}

// The headings of the page as links; that of the part in sight is marked.
function addContents() {
  const nav = document.querySelector("nav#toc");
  if (!nav) return;
  const headings = [...document.querySelectorAll("main h2[id], main h3[id]")];
  const list = add(nav, "ul", "", "");
  const links = headings.map((heading) => {
    const link = add(add(list, "li", heading.tagName.toLowerCase(), ""), "a", "", heading.textContent.trim());
    link.href = "#" + heading.id;
    return link;
  });
  const mark = () => {
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < 120).length;
    links.forEach((link, i) => link.classList.toggle("active", i === above - 1));
  };
  document.addEventListener("scroll", mark, { passive: true });
  mark();
}

// Copies the code without what it prints.
function addCopyButtons() {
  for (const block of document.querySelectorAll("div.sourceCode")) {
    const code = block.textContent.replace(/^#>.*\n?/gm, "");
    const button = add(block, "button", "btn-copy", "copy");
    button.type = "button";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
  }
}

// Entries of the index that have every word that was typed; those that have it in their name or heading come first.
function findEntries(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const within = (text) => words.filter((word) => (text || "").toLowerCase().includes(word)).length;
  return searchIndex
    .filter((entry) => within([entry.title, entry.what, entry.text, entry.code].join(" ")) === words.length)
    .map((entry) => ({ entry, rank: 4 * within(entry.title) + 2 * within(entry.what) + within(entry.text) }))
    .sort((a, b) => b.rank - a.rank)
    .slice(0, 20)
    .map(({ entry }) => entry);
}

function addSearch() {
  const input = document.getElementById("search-input");
  if (!input) return;
  const form = input.form;
  const list = add(form, "div", "search-found", "");
  list.setAttribute("aria-live", "polite"); // what was found is read out
  const show = () => {
    list.replaceChildren();
    if (typeof searchIndex === "undefined" || !input.value.trim()) return;
    const found = findEntries(input.value);
    if (!found.length) add(list, "span", "", "nothing found");
    for (const entry of found) {
      const link = add(list, "a", "", entry.title || entry.path);
      link.href = root + entry.path + (entry.id ? "#" + entry.id : "");
      if (entry.what && entry.what !== entry.title) add(link, "small", "", entry.what);
    }
  };
  const loadIndex = () => {
    if (document.getElementById("search-index")) return;
    const script = document.createElement("script");
    script.id = "search-index";
    script.src = root + "search.js";
    script.addEventListener("load", show);
    document.head.append(script);
  };
  // up and down go through what was found
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") list.replaceChildren();
    if (!step) return;
    event.preventDefault();
    const stops = [input, ...list.querySelectorAll("a")];
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (next) next.focus();
  };
  input.addEventListener("focus", loadIndex);
  input.addEventListener("input", show);
  form.addEventListener("keydown", move);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = list.querySelector("a");
    if (first) window.location = first.href;
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) list.replaceChildren(); });
}
