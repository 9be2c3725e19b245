// A site with another origin than the server; its page embeds the server's element.
import { createServer } from 'node:http';

export class OtherSite {
  async start() {
    this.server = createServer((request, response) => {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(`<!doctype html><html lang="en"><title>another site</title>
<link rel="icon" href="data:,">
<script type="module" src="${this.stoka}/stoka-terminal.js"></script>
<h1>another site</h1>
<stoka-terminal></stoka-terminal></html>`);
    });
    await new Promise((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
