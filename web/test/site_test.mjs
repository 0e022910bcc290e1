// Opens the site of the documents from its folder in a real browser and uses it as a reader would:
//
//   node web/test/site_test.mjs SITE [FOLDER FOR SCREENSHOTS]
//
// SITE is what packaging/docs/site_pages.py made. Exit code 0: all is well; 1: something is not; 77: there is no Chromium.

import assert from 'node:assert/strict';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser, findChromium} from './browser.mjs';

const site = resolve(process.argv[2]);
const screenshots = process.argv[3];
const chromium = findChromium();
if (!chromium) {
  console.log('skipped: there is no Chromium');
  process.exit(77);
}

const address = (path) => pathToFileURL(join(site, path)).href;

async function keep(page, name) {
  if (!screenshots) return;
  mkdirSync(screenshots, {recursive: true});
  writeFileSync(join(screenshots, `${name}.png`), await page.screenshot({full: false}));
}

// Types into the search and returns what it finds: [text, address].
async function search(page, words) {
  await page.key('/');
  await page.evaluate('document.getElementById("search").select()');
  await page.type(words);
  return page.evaluate(`[...document.querySelectorAll('#found a')].map((a) => [a.textContent, a.href])`);
}

const tests = {
  async 'opens without a server and fetches nothing else'(page) {
    for (const path of ['index.html', 'docs/concepts.html', 'reference/plan.html', 'docs/adr/index.html']) {
      await page.open(address(path));
      assert.notEqual(await page.evaluate('document.querySelector("h1").textContent'), '');
    }
    assert.deepEqual(page.complaints, []);
    const outside = page.requests.filter((url) => !url.startsWith(pathToFileURL(site).href));
    assert.deepEqual(outside, []);
  },

  async 'finds a command by its name first, and goes there with the Enter key'(page) {
    await page.open(address('docs/adr/0009-exact.html'));
    const found = await search(page, 'graph make');
    assert.match(found[0][1], /reference\/graph\.html#tutti-graph-make$/);
    await keep(page, 'search');
    await page.key('Enter');
    await page.open(found[0][1]);
    assert.match(await page.evaluate('document.getElementById("tutti-graph-make").textContent'), /tutti graph make/);
  },

  async 'finds words in any order, in texts of all kinds, and says if no page has them'(page) {
    await page.open(address('index.html'));
    const addresses = async (words) => (await search(page, words)).map(([, url]) => url);
    assert.ok((await addresses('bandwidth link shared')).some((url) => url.includes('docs/formats/machine.html')));
    assert.ok((await addresses('--tail-weight')).some((url) => url.includes('reference/plan.html')));
    assert.ok((await addresses('0x6e6f7768657265')).length === 0);
    assert.match(await page.evaluate('document.getElementById("found").textContent'), /No page has/);
  },

  async 'shows what is typed into the search as text'(page) {
    await page.open(address('index.html'));
    await search(page, '<img src=x onerror=alert(1)> [');
    assert.equal(await page.evaluate('document.querySelectorAll("#found img").length'), 0);
    assert.deepEqual(page.complaints, []);
  },

  async 'fits narrow and wide windows, light and dark'(page) {
    for (const [width, scheme] of [[390, 'light'], [960, 'light'], [1500, 'dark']]) {
      await page.prefer(scheme);
      await page.resize(width);
      for (const path of ['index.html', 'reference/plan.html', 'docs/formats/machine.html', 'docs/results/real.html']) {
        await page.open(address(path));
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        assert.ok(wide <= width, `${path} is ${wide} px wide in a window of ${width} px`);
        await keep(page, `${path.replace(/\//g, '_').replace('.html', '')}_${width}_${scheme}`);
      }
    }
  },

  async 'opens its menu on a small screen'(page) {
    await page.resize(390);
    await page.open(address('index.html'));
    const seen = () => page.evaluate('document.getElementById("menu").offsetHeight > 0');
    assert.equal(await seen(), false);
    await page.evaluate('document.getElementById("menu-button").click()');
    assert.equal(await seen(), true);
  },

  async 'shows every picture'(page) {
    for (const path of ['index.html', 'docs/results/real.html']) {
      await page.open(address(path));
      const broken = await page.evaluate('[...document.images].filter((image) => image.naturalWidth === 0).map((image) => image.src)');
      assert.deepEqual(broken, []);
    }
    assert.ok(await page.evaluate('document.images.length') > 0);
  },
};

const browser = new Browser(chromium);
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test(await browser.newPage());
    console.log(`ok: the site ${name}`);
  } catch (error) {
    ++failed;
    console.error(`FAILED: the site ${name}\n${error.stack}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
