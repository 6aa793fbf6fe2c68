/** What the header of an MP4 file says about its video. */
export interface Mp4Measures {
  readonly seconds: number;
  /** Pixels of the largest track. */
  readonly width: number;
  readonly height: number;
}

/** A box begins with its size, 4 bytes, and its type, 4 letters (ISO/IEC 14496-12, 4.2). */
const BOX_HEAD_BYTES = 8;
/** Bytes of the head of a box whose size is too large for 4 bytes and is stored in 8 more. */
const LARGE_HEAD_BYTES = 16;
/** The header of a one-hour film has about 2 MB. A header above this limit is not read. */
const MAX_MOOV_BYTES = 8 * 1024 * 1024;
/** Width and height are fixed-point numbers with 16 bits after the point. */
const FIXED_POINT = 65_536;

/**
 * Reads length and size from the header of an MP4 or QuickTime file, while the file streams past. It
 * keeps only the header (box `moov`) in memory, which may be at the start or at the end of the file.
 */
export class Mp4Reader {
  /** The head of the next box, or the header that is being collected. */
  private kept = new Uint8Array(BOX_HEAD_BYTES);
  /** How many bytes of `kept` are filled. When it is full, its content is read. */
  private filled = 0;
  /** Bytes until the next box. */
  private skipped = 0;
  private isInMoov = false;
  private isOver = false;
  private found: Mp4Measures | undefined;

  /** What the header says; undefined if no readable header has passed. */
  get measures(): Mp4Measures | undefined {
    return this.found;
  }

  /** Reads the next piece of the file. Never throws. */
  push(piece: Uint8Array): void {
    let rest = piece;
    while (rest.length > 0 && !this.isOver) {
      const passed = Math.min(this.skipped, rest.length);
      this.skipped -= passed;
      rest = rest.subarray(passed);
      const taken = Math.min(this.kept.length - this.filled, rest.length);
      this.kept.set(rest.subarray(0, taken), this.filled);
      this.filled += taken;
      rest = rest.subarray(taken);
      if (this.filled === this.kept.length) this.readKept();
    }
  }

  private readKept(): void {
    const { kept } = this;
    if (this.isInMoov) {
      this.found = measuresIn(kept);
      this.isOver = true;
      return;
    }
    const box = headOf(kept);
    if (!box) {
      this.isOver = true;
      return;
    }
    if (box.head_bytes > kept.length) {
      this.kept = new Uint8Array(box.head_bytes);
      this.kept.set(kept);
      return;
    }
    this.keep(BOX_HEAD_BYTES);
    const content_bytes = box.bytes - box.head_bytes;
    if (box.type !== 'moov') {
      this.skipped = content_bytes;
      return;
    }
    this.isInMoov = true;
    this.isOver = content_bytes === 0 || content_bytes > MAX_MOOV_BYTES;
    if (!this.isOver) this.keep(content_bytes);
  }

  private keep(bytes: number): void {
    this.kept = new Uint8Array(bytes);
    this.filled = 0;
  }
}

interface BoxHead {
  readonly type: string;
  readonly bytes: number;
  /** Bytes of the head, which `bytes` includes. */
  readonly head_bytes: number;
}

/** Reads the head of a box. Returns undefined if its size is wrong, or 0 (see below). */
function headOf(bytes: Uint8Array): BoxHead | undefined {
  const view = viewOf(bytes);
  const type = Buffer.from(bytes.subarray(4, BOX_HEAD_BYTES)).toString('latin1');
  const size = view.getUint32(0);
  if (size === 1) {
    if (bytes.length < LARGE_HEAD_BYTES) return { type, bytes: 0, head_bytes: LARGE_HEAD_BYTES };
    const large = Number(view.getBigUint64(BOX_HEAD_BYTES));
    return large < LARGE_HEAD_BYTES
      ? undefined
      : { type, bytes: large, head_bytes: LARGE_HEAD_BYTES };
  }
  // The size 0 means that the box reaches to the end of the file. Such a header is not read.
  return size < BOX_HEAD_BYTES ? undefined : { type, bytes: size, head_bytes: BOX_HEAD_BYTES };
}

/** Returns the content of each box in `content` that has the type. */
function boxesIn(content: Uint8Array, type: string): Uint8Array[] {
  const boxes: Uint8Array[] = [];
  for (let at = 0; at + BOX_HEAD_BYTES <= content.length; ) {
    const box = headOf(content.subarray(at, at + LARGE_HEAD_BYTES));
    if (!box || box.bytes < box.head_bytes) break;
    if (box.type === type) boxes.push(content.subarray(at + box.head_bytes, at + box.bytes));
    at += box.bytes;
  }
  return boxes;
}

function measuresIn(moov: Uint8Array): Mp4Measures | undefined {
  const [header] = boxesIn(moov, 'mvhd');
  const seconds = header && secondsIn(header);
  const sizes = boxesIn(moov, 'trak').flatMap((track) => boxesIn(track, 'tkhd').flatMap(sizeIn));
  const [largest] = sizes.toSorted((a, b) => b.width * b.height - a.width * a.height);
  return seconds !== undefined && largest !== undefined ? { seconds, ...largest } : undefined;
}

/**
 * Returns the length of a video, seconds. The box `mvhd` has a version, two times, the number of
 * units in one second, and the length in these units.
 */
function secondsIn(header: Uint8Array): number | undefined {
  const isLong = header[0] === 1;
  if (header.length < (isLong ? 32 : 20)) return undefined;
  const view = viewOf(header);
  const units = view.getUint32(isLong ? 20 : 12);
  const length = isLong ? Number(view.getBigUint64(24)) : view.getUint32(16);
  const seconds = length / units;
  // In a fragmented MP4 file, this length is 0.
  return Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

/** Reads width and height, the last members of `tkhd`. A track of audio has the size 0. */
function sizeIn(track: Uint8Array): { width: number; height: number }[] {
  if (track.length < 84) return [];
  const view = viewOf(track);
  const width = view.getUint32(track.length - 8) / FIXED_POINT;
  const height = view.getUint32(track.length - 4) / FIXED_POINT;
  return width > 0 && height > 0 ? [{ width, height }] : [];
}

const viewOf = (bytes: Uint8Array) =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
