/**
 * Decides how PostgreSQL programs are started. They never run as root, and they end with this
 * process.
 */

/** The prefix of a command line, and the required owner of the cluster's files. */
export interface LaunchPlan {
  prefix: string[];
  /** The uid, outside of a user namespace, that must own the cluster's folder. */
  owner_uid: number;
}

/**
 * The user id and group id of `nobody` on Debian. Normally no file belongs to this id, so a process
 * with this id has no rights of its own.
 */
const UNPRIVILEGED_ID = 65534;

let cached: LaunchPlan | undefined;

/**
 * Finds, once per process, how to start PostgreSQL programs on this system.
 *
 * PostgreSQL refuses to run as root. If this process is root, the server runs in a user namespace.
 * Inside the namespace, the server has another uid. Outside, root still owns its files. If the
 * system forbids namespaces (some containers), the server runs as `nobody`. As `nobody`, the server
 * keeps one capability. With this capability the server reaches its folder inside of directories
 * that are closed to other users.
 *
 * @throws if this process is root, and the server can run neither in a user namespace nor as
 * `nobody`.
 */
export function launchPlan(): LaunchPlan {
  cached ??= findLaunchPlan();
  return cached;
}

/**
 * Returns the part of the prefix that makes the server end when this process ends. If this process
 * is killed, the kernel sends SIGINT to the server. SIGINT starts PostgreSQL's fast shutdown. The
 * returned list is empty if `setpriv` does not exist (macOS). Without `setpriv`, the next start of
 * Weir stops a server that still runs.
 */
export function dieWithParentPrefix(): string[] {
  const prefix = ['setpriv', '--pdeathsig', 'SIGINT'];
  return canRun([...prefix, 'true']) ? prefix : [];
}

function findLaunchPlan(): LaunchPlan {
  const uid = process.getuid?.() ?? 0;
  if (uid !== 0) return { prefix: [], owner_uid: uid };
  const forced = process.env.WEIR_EMBEDDED_ROOT_MODE;
  const namespace = [
    'unshare',
    '--user',
    `--map-user=${UNPRIVILEGED_ID}`,
    `--map-group=${UNPRIVILEGED_ID}`,
  ];
  if (forced !== 'setpriv' && canRun([...namespace, 'true'])) {
    return { prefix: namespace, owner_uid: 0 };
  }
  const identity = [
    'setpriv',
    `--reuid=${UNPRIVILEGED_ID}`,
    `--regid=${UNPRIVILEGED_ID}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
  if (canRun([...identity, 'true'])) return { prefix: identity, owner_uid: UNPRIVILEGED_ID };
  throw new Error(
    'PostgreSQL does not run as root, and neither "unshare --user" nor "setpriv" (util-linux) ' +
      'works here. Start Weir as an ordinary user, or set DATABASE_URL.',
  );
}

function canRun(command: string[]): boolean {
  try {
    return Bun.spawnSync(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).success;
  } catch {
    return false;
  }
}
