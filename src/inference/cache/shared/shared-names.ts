/** Part of every hash. It must change if values or canonical requests change their form. */
const FORM = 'v1';
const NAME_BYTES = 16;
const INSTALLATION_CHARS = 8;

/** The keys of one entry in Redis. */
export interface EntryNames {
  readonly entry: string;
  readonly mark: string;
  /** The list of the organization's entries. */
  readonly own: string;
  /** The organization, as lists and sums name it. */
  readonly organization: string;
  /** What the lists have of the entry. */
  readonly member: string;
}

/**
 * The names of entries in Redis. Each is a hash under a key of the installation, so it tells nothing of the
 * request, and nobody without the key can find out whether a request is stored.
 */
export class SharedNames {
  /** All keys begin with it. Several installations may share a Redis, and each has bounds of its own. */
  readonly prefix: string;
  /** The list of all entries, the sizes of all entries, and the sums of organizations. */
  readonly all: string;
  readonly sizes: string;
  readonly sums: string;

  /** `key` has 32 bytes. */
  constructor(private readonly key: Uint8Array) {
    const installation = this.hash('installation', '').slice(0, INSTALLATION_CHARS);
    const prefix = `weir:cache:${installation}:`;
    this.prefix = prefix;
    this.all = `${prefix}all`;
    this.sizes = `${prefix}sizes`;
    this.sums = `${prefix}sums`;
  }

  /** Returns the key of the mark: it exists if an entry of the organization has the sketch. */
  mark(organization_id: string, sketch: number): string {
    return `${this.prefix}m:${this.hash('mark', organization_id, sketch)}`;
  }

  /** Returns the key of an entry. The digest of its request has its organization. */
  entry(digest: string): string {
    return `${this.prefix}e:${this.hash('entry', digest)}`;
  }

  /** Returns the list of an organization's entries. */
  own(organization_id: string): string {
    return `${this.prefix}of:${this.hash('organization', organization_id)}`;
  }

  /** Returns all names of an entry. */
  of(organization_id: string, sketch: number, digest: string): EntryNames {
    const organization = this.hash('organization', organization_id);
    const [entry, mark] = [this.entry(digest), this.mark(organization_id, sketch)];
    const [short, short_mark] = [entry, mark].map((name) => name.slice(this.prefix.length + 2));
    return {
      ...{ entry, mark, organization, own: this.own(organization_id) },
      member: `${organization}:${short}:${short_mark}`,
    };
  }

  private hash(use: string, part: string, number?: number): string {
    const text = `${FORM}/${use}/${part.length}/${part}/${number ?? ''}`;
    const hash = new Bun.CryptoHasher('sha256', this.key).update(text).digest();
    return hash.toString('base64url', 0, NAME_BYTES);
  }
}
