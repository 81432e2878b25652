// Replays pages of a web archive with ReplayWeb.page in Chromium, follows a link of each, and
// prints a line of JSON a page: what a reader sees.
//
//	cd DIR # of scripts/peers.sh
//	node scripts/peers/replay.mjs http://127.0.0.1:PORT pages.wacz PROXY CHROMIUM urls.json
//
// The server has ReplayWeb.page at its root, and the archive beside it. All else that the
// browser asks for goes to PROXY, which can tell what a page would have fetched from the web.
// The last file has the pages to replay, and all those that a link may lead to.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const puppeteer = createRequire(process.cwd() + '/')('puppeteer-core');
const [base, archive, proxy, chromium, urls] = process.argv.slice(2);
const { pages, known } = JSON.parse(readFileSync(urls, 'utf8'));
const timeout = 60_000; // of each wait, on a busy machine

const browser = await puppeteer.launch({
  executablePath: chromium,
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--disable-component-update', `--proxy-server=${proxy}`],
});

// at waits until the frame of the replay shows a URL, all of it.
async function at(tab, url) {
  const frame = await tab.waitForFrame(f => f.url().endsWith('mp_/' + url), { timeout });
  await frame.waitForFunction(() => document.readyState === 'complete', { timeout });
  return frame;
}

// seen is what is shown there. Replaying, links and pictures have the addresses of the web.
function seen(frame) {
  return frame.evaluate(() => {
    const pictures = [...document.images].filter(image => image.src.startsWith('http'));
    return {
      title: document.title,
      text: document.body?.innerText ?? '',
      pictures: pictures.length,
      shown: pictures.filter(image => image.naturalWidth > 0).length,
    };
  });
}

// click follows the first link to one of those URLs, or a link to nowhere that is put there.
function click(frame, urls, nowhere) {
  return frame.evaluate((urls, nowhere) => {
    const there = new Set(urls);
    let link = [...document.links].find(a => there.has(a.href));
    if (nowhere) {
      link = document.createElement('a');
      link.href = nowhere;
      document.body.append(link);
    }
    link?.removeAttribute('target'); // stay in this tab
    link?.click();
    return link?.href ?? '';
  }, urls, nowhere);
}

async function replay(url) {
  const tab = await browser.newPage();
  try {
    await tab.goto(`${base}/?source=${encodeURIComponent(base + '/' + archive)}#view=replay&url=${encodeURIComponent(url)}`, { timeout });
    const frame = await at(tab, url), page = { url, ...await seen(frame) };
    const to = await click(frame, known.filter(other => other !== url));
    if (to) page.link = { url: to, ...await seen(await at(tab, to)) };
    const missing = 'http://nowhere.test/' + encodeURIComponent(url);
    await click(await at(tab, to || url), [], missing);
    page.missing = (await seen(await at(tab, missing))).text;
    return page;
  } finally {
    await tab.close();
  }
}

try {
  for (const url of pages) console.log(JSON.stringify(await replay(url)));
  const tab = await browser.newPage();
  await tab.goto(base, { timeout });
  const listed = await tab.evaluate(async () => {
    const { colls } = await (await fetch('/w/api/coll-index')).json();
    return (await (await fetch(`/w/api/c/${colls[0].id}?all=1`)).json()).pages.length;
  });
  console.log(JSON.stringify({ listed }));
} finally {
  await browser.close();
}
