// Replays pages of a web archive with ReplayWeb.page in Chromium, follows a link of each, and
// prints what a reader sees, a line of JSON a page.
//
//	cd DIR # of scripts/peers.sh
//	node scripts/peers/replay.mjs http://127.0.0.1:PORT pages.wacz PROXY CHROMIUM urls.json
//
// The server has ReplayWeb.page at its root and the archive beside it. All other requests go to PROXY,
// which sees what a page would fetch from the web. urls.json has the pages to replay and all link targets.
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

// at waits until the replay's frame has loaded a URL.
async function at(tab, url) {
  const frame = await tab.waitForFrame(f => f.url().endsWith('mp_/' + url), { timeout });
  await frame.waitForFunction(() => document.readyState === 'complete', { timeout });
  return frame;
}

// seen returns what the frame shows. In a replay, pictures keep their addresses on the web.
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

// click follows the first link to one of the URLs, or a link that it adds to nowhere.
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
