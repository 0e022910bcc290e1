// A headless Chromium, driven over a pipe by the DevTools protocol. Needs nothing but node.

import {spawn} from 'node:child_process';
import {accessSync, constants, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

// The path of a Chromium, or null. $TUTTI_CHROMIUM goes first.
export function findChromium() {
  const folders = (process.env.PATH ?? '').split(':');
  const places = programs.flatMap((name) => folders.map((folder) => join(folder, name)));
  if (process.env.TUTTI_CHROMIUM) places.unshift(process.env.TUTTI_CHROMIUM);
  return places.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  }) ?? null;
}

export class Browser {
  constructor(program) {
    this.profile = mkdtempSync(join(tmpdir(), 'tutti-browser-'));
    const flags = ['--headless', '--remote-debugging-pipe', '--disable-gpu', '--hide-scrollbars', '--no-first-run',
      '--disable-extensions', '--disable-background-networking', '--disable-dev-shm-usage', '--mute-audio',
      '--force-color-profile=srgb', `--user-data-dir=${this.profile}`, 'about:blank'];
    if (process.getuid?.() === 0) flags.unshift('--no-sandbox');
    this.process = spawn(program, flags, {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    this.ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.ended.then(() => this.failAll('the browser ended'));
    this.process.once('error', (error) => this.failAll(error.message));
    this.lastId = 0;
    this.pending = new Map();
    this.listeners = new Map(); // by session
    let rest = '';
    this.process.stdio[4].setEncoding('utf8').on('data', (text) => {
      const parts = (rest + text).split('\0');
      rest = parts.pop();
      for (const part of parts) this.take(JSON.parse(part));
    });
    this.process.stdio[3].on('error', () => {});
  }

  take(message) {
    const waiting = this.pending.get(message.id);
    if (waiting) {
      this.pending.delete(message.id);
      if (message.error) waiting.reject(new Error(message.error.message));
      else waiting.resolve(message.result);
      return;
    }
    this.listeners.get(message.sessionId)?.(message.method, message.params);
  }

  failAll(reason) {
    for (const {reject} of this.pending.values()) reject(new Error(reason));
    this.pending.clear();
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, {resolve, reject});
      this.process.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
    });
  }

  async newPage({width = 1400, height = 1000} = {}) {
    const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
    const page = new Page(this, sessionId);
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await page.send(`${domain}.enable`);
    await page.resize(width, height);
    return page;
  }

  async close() {
    await this.send('Browser.close').catch(() => {});
    await this.ended;
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }
}

class Page {
  constructor(browser, session) {
    Object.assign(this, {browser, session, complaints: [], requests: []});
    browser.listeners.set(session, (method, params) => this.hear(method, params));
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  hear(method, params) {
    if (method === 'Runtime.exceptionThrown') {
      const {text, exception} = params.exceptionDetails;
      this.complaints.push(exception?.description ?? text);
    }
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type)) {
      this.complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(' '));
    }
    if (method === 'Log.entryAdded' && params.entry.level === 'error') this.complaints.push(params.entry.text);
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
  }

  async resize(width, height = 1000) {
    await this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
    await this.frame();
  }

  // Opens a page and waits until it says it is ready.
  async open(url, seconds = 60) {
    await this.send('Page.navigate', {url});
    const end = Date.now() + 1000 * seconds;
    while (!await this.evaluate('Boolean((window.tuttiReport ?? window.tuttiSite)?.ready)')) {
      if (Date.now() > end) throw new Error(`${url} was not ready after ${seconds} s: ${this.complaints.join('; ')}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await this.frame();
  }

  // The value of an expression in the page; promises are awaited.
  async evaluate(expression) {
    const {result, exceptionDetails} = await this.send('Runtime.evaluate',
      {expression, returnByValue: true, awaitPromise: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  // Two frames: what was asked for before has been drawn.
  frame() {
    return this.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))');
  }

  async mouse(type, x, y, more = {}) {
    await this.send('Input.dispatchMouseEvent', {type, x, y, ...more});
  }

  async click(x, y) {
    await this.mouse('mouseMoved', x, y);
    await this.mouse('mousePressed', x, y, {button: 'left', buttons: 1, clickCount: 1});
    await this.mouse('mouseReleased', x, y, {button: 'left', clickCount: 1});
    await this.frame();
  }

  async drag(from, to, y) {
    await this.mouse('mouseMoved', from, y);
    await this.mouse('mousePressed', from, y, {button: 'left', buttons: 1, clickCount: 1});
    for (let step = 1; step <= 4; ++step) {
      await this.mouse('mouseMoved', from + ((to - from) * step) / 4, y, {button: 'left', buttons: 1});
    }
    await this.mouse('mouseReleased', to, y, {button: 'left', clickCount: 1});
    await this.frame();
  }

  async wheel(x, y, deltaY, {ctrl = false} = {}) {
    await this.mouse('mouseWheel', x, y, {deltaX: 0, deltaY, modifiers: ctrl ? 2 : 0});
    await this.frame();
  }

  async key(key, {shift = false} = {}) {
    const text = key.length === 1 ? key : undefined;
    const modifiers = shift ? 8 : 0;
    await this.send('Input.dispatchKeyEvent', {type: 'keyDown', key, text, modifiers});
    await this.send('Input.dispatchKeyEvent', {type: 'keyUp', key, modifiers});
    await this.frame();
  }

  async type(text) {
    await this.send('Input.insertText', {text});
    await this.frame();
  }

  // What the system prefers: 'light' or 'dark'.
  async prefer(scheme) {
    await this.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
    await this.frame();
  }

  async screenshot({full = true} = {}) {
    const {data} = await this.send('Page.captureScreenshot', {format: 'png', captureBeyondViewport: full});
    return Buffer.from(data, 'base64');
  }
}
