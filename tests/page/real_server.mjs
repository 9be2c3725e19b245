// Starts `stoka serve` over the sample site, with its data in a temporary folder.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SITE = fileURLToPath(new URL('../../evals/site', import.meta.url));

export class RealServer {
  // `origin` becomes the allowed CORS origin.
  async start(binary, origin) {
    this.folder = mkdtempSync(join(tmpdir(), 'stoka-page-'));
    const env = {
      HOME: this.folder,
      STOKA_DB_URL: `sqlite:${join(this.folder, 'stoka.db')}`,
      STOKA_CHAT_LIMIT: '0',
      STOKA_CONTEXT_LIMIT: '0',
      STOKA_CORS_ORIGINS: origin,
      STOKA_SERVE_PORT: '0',
    };
    const index = spawnSync(binary, ['index', '--quiet', SITE], { env, encoding: 'utf8' });
    if (index.status !== 0) throw new Error(`stoka index: ${index.stderr}`);
    this.process = spawn(binary, ['serve'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const lines = createInterface({ input: this.process.stderr });
    this.base = await new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        const url = /listening on (\S+?)\/?"/.exec(line);
        if (url) resolve(url[1]);
      });
      this.process.on('exit', (code) => reject(new Error(`stoka serve: exit code ${code}`)));
    });
    return this;
  }

  stop() {
    this.process.kill('SIGTERM');
    this.process.on('exit', () => rmSync(this.folder, { recursive: true, force: true }));
  }
}
