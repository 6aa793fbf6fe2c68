/** Who made a change. */
export interface Actor {
  readonly kind: 'token' | 'person' | 'operator' | 'system';
  /** The id of the token or of the person; '' for Weir itself. */
  readonly id: string;
  /** What people know it by: the start of a token, or an e-mail address. */
  readonly label: string;
  /** The id of the token or of the session; null for Weir itself. */
  readonly credential_id: string | null;
  /** The address of the client: an IPv4 address, or the /64 block of an IPv6 address. */
  readonly address: string;
  /** The request, `req_…`; null if no request made the change. */
  readonly request_id: string | null;
}

/** Weir itself, e.g. when it closes a full debug window. */
export const WEIR: Actor = {
  ...{ kind: 'system', id: '', label: 'weir', credential_id: null, address: '', request_id: null },
};

/** One change. No member has a secret or the hash of one. */
export interface Change {
  /** The organization that was changed; null for the installation. */
  readonly organization_id: string | null;
  readonly actor: Actor;
  /** The object and the verb, e.g. `api_key.create`. */
  readonly action: string;
  /** What was changed: the kind of object before the dot of `action`, and its id. */
  readonly subject_id: string;
  /** The changed members as they were; null for a new object. */
  readonly before: object | null;
  /** The changed members as they are now; null for an object that is gone. */
  readonly after: object | null;
}

/** A line of the audit log, as exports have it. */
export interface AuditLine {
  /** The place in the log of its organization, from 1 on without gaps. */
  readonly seq: number;
  readonly organization_id: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  readonly at: string;
  readonly actor: Actor;
  readonly action: string;
  readonly subject_id: string;
  readonly before: object | null;
  readonly after: object | null;
  /** The hash of the line before; '' for the first one. */
  readonly previous_hash: string;
  /** SHA-256 of the line without this member as canonical JSON (RFC 8785), hex. */
  readonly hash: string;
}
