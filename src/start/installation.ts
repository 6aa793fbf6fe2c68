import { existsSync, readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { CurrentInstallation, type Declared } from '../config/current-installation.ts';
import { demoConfig } from '../config/demo.ts';
import { ConfigurationError, type Environment } from '../config/environment.ts';
import type { Installation } from '../config/installation.ts';
import { parseDeclared } from '../config/weir-yaml.ts';
import type { TransportName } from '../upstreams/contract.ts';
import { startSimulator } from './simulator.ts';

const DEFAULT_CONFIG = './weir.yaml';
/**
 * How often Weir reads the file, ms. Weir compares the content with that of the last poll, because
 * this works on every file system.
 */
const POLL_MS = 400;

/** The installation of this process. */
export interface OpenInstallation {
  readonly live: CurrentInstallation;
  /**
   * Returns false while the file has mistakes or cannot be read. Meanwhile the previous
   * configuration stays in use.
   */
  isValid(): boolean;
  /** Stops polling the file, or stops the simulator. */
  close(): Promise<void>;
}

/**
 * Opens the channels and models of the configuration file, and applies the file again whenever it
 * changes. Without a file, Weir runs the demo with its simulator. Throws ConfigurationError if the
 * file cannot be used.
 */
export async function openInstallation(
  { WEIR_CONFIG: configured, WEIR_TRANSPORT: transport }: Environment,
  log: Logger,
): Promise<OpenInstallation> {
  const file = configured ?? (existsSync(DEFAULT_CONFIG) ? DEFAULT_CONFIG : undefined);
  if (file) return watch(file, transport, log);
  const simulator = await startSimulator();
  const yaml = demoConfig(simulator.url);
  const live = new CurrentInstallation({ yaml, source: 'simulator', transport });
  return { live, isValid: () => true, close: () => simulator.stop() };
}

function watch(file: string, transport: TransportName, log: Logger): OpenInstallation {
  let applied = readConfig(file);
  /** The text of the last poll; undefined if the file could not be read. */
  let polled: string | undefined = applied;
  const live = new CurrentInstallation(parseConfig(applied, file, transport));
  warnIfEmpty(live.now, file, log);
  const poll = () => {
    let text: string | undefined;
    try {
      text = readConfig(file);
      if (text === polled) return;
      if (text !== applied) {
        live.replace(parseConfig(text, file, transport));
        applied = text;
        warnIfEmpty(live.now, file, log);
        log.info({ file, channels: live.now.channels.length }, 'the configuration was applied');
      }
    } catch (error) {
      // Each content is logged once, not on every poll.
      if (text !== polled)
        log.error({ error }, 'the configuration was not applied; the previous one stays in use');
    }
    polled = text;
  };
  const timer = setInterval(poll, POLL_MS);
  process.on('SIGHUP', poll);
  return {
    live,
    isValid: () => polled === applied,
    async close() {
      clearInterval(timer);
      process.off('SIGHUP', poll);
    },
  };
}

/** Without this line, an empty file looks like a working installation in which no model exists. */
function warnIfEmpty({ channels }: Installation, file: string, log: Logger): void {
  if (channels.length > 0) return;
  log.warn({ file }, `${file} has no channels, so no model can be called. Add a channel.`);
}

function parseConfig(text: string, file: string, transport: TransportName): Declared {
  return { ...parseDeclared(text, process.env, file), source: 'file', transport };
}

function readConfig(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigurationError(`WEIR_CONFIG cannot be read: ${(error as Error).message}`);
  }
}
