// Checks pages of ./site by axe-core in Chromium: names of pictures and fields, contrast, headings, keyboard.
//
//   apt-get install chromium; npm install --prefix .check axe-core puppeteer-core
//   node tools/accessibility.js [pages]    after make site; without pages all of them
//
// Prints a line for each rule that a page breaks, and fails if there is one. axe-core finds about half of
// what a person would: it does not judge words of pictures or the order of a page.

const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");

const modules = path.join(process.cwd(), ".check/node_modules");
const puppeteer = require(path.join(modules, "puppeteer-core"));
const axe = fs.readFileSync(path.join(modules, "axe-core/axe.min.js"), "utf8");
const site = path.join(process.cwd(), "site");

function listPages(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    return entry.isDirectory() ? listPages(name) : name.endsWith(".html") ? [name] : [];
  });
}

// The rules that a page breaks, with the first place of each.
async function findFaults(browser, page) {
  const tab = await browser.newPage();
  await tab.goto(pathToFileURL(page).href, { waitUntil: "load" });
  await tab.evaluate(axe);
  const found = await tab.evaluate(() => globalThis.axe.run());
  await tab.close();
  return found.violations.map((rule) =>
    `${path.relative(site, page)}: ${rule.id} (${rule.impact}), ${rule.nodes.length} times, as ${rule.nodes[0].html.slice(0, 120)}`);
}

async function checkPages(pages) {
  const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  const faults = [];
  for (const page of pages) faults.push(...await findFaults(browser, page));
  await browser.close();
  faults.forEach((fault) => console.log(fault));
  console.log(`${pages.length} pages, ${faults.length} faults`);
  process.exit(faults.length ? 1 : 0);
}

const named = process.argv.slice(2).map((page) => path.resolve(page));
checkPages(named.length ? named : listPages(site));
