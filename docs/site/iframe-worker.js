// Search without a server: browsers start no workers from file://, so the script of one runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inner = frame.contentWindow, waiting = [];
      const load = source => new Promise((done, failed) => {
        const script = inner.document.createElement("script");
        Object.assign(script, {src: source, onload: done, onerror: failed});
        inner.document.head.appendChild(script);
      });
      const deliver = data => inner.dispatchEvent(new inner.MessageEvent("message", {data}));
      inner.importScripts = async (...sources) => {
        for (const source of sources) await load(source);
      };
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
      this.postMessage = data => waiting.push(data);
      load(url).then(() => {
        this.postMessage = data => setTimeout(() => deliver(data));
        waiting.forEach(this.postMessage);
      });
    }
    terminate() {}
  };
}
