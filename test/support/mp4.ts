/** MP4 files that have a header and no pictures (ISO/IEC 14496-12). */

export interface FilmOptions {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  /** The version of the headers; version 1 has longer times. */
  readonly version?: 0 | 1;
  /** True if the header comes after the pictures. */
  readonly is_header_last?: boolean;
  /** True if the box of the pictures has a size of 8 bytes. */
  readonly has_large_box?: boolean;
}

const UNITS_PER_SECOND = 1_000;

/** A box of a type with its content. */
export function box(type: string, ...content: Uint8Array[]): Uint8Array {
  const bytes = Buffer.concat([Buffer.alloc(8), ...content]);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.write(type, 4, 'latin1');
  return bytes;
}

/** A film with one track of video and one of audio. */
export function filmOf(options: FilmOptions): Uint8Array {
  const { seconds, width, height, version = 0 } = options;
  const header = Buffer.alloc(version === 1 ? 108 : 96);
  header[0] = version;
  header.writeUInt32BE(UNITS_PER_SECOND, version === 1 ? 20 : 12);
  const units = Math.round(seconds * UNITS_PER_SECOND);
  if (version === 1) header.writeBigUInt64BE(BigInt(units), 24);
  else header.writeUInt32BE(units, 16);
  const track = (across: number, down: number) => {
    const bytes = Buffer.alloc(version === 1 ? 96 : 84);
    bytes[0] = version;
    bytes.writeUInt32BE(across * 65_536, bytes.length - 8);
    bytes.writeUInt32BE(down * 65_536, bytes.length - 4);
    return box('trak', box('tkhd', bytes), box('mdia'));
  };
  const moov = box('moov', box('mvhd', header), track(0, 0), track(width, height));
  const pictures = options.has_large_box
    ? largeBox('mdat', 3_000)
    : box('mdat', Buffer.alloc(3_000));
  const start = box('ftyp', Buffer.from('isom'));
  return Buffer.concat(options.is_header_last ? [start, pictures, moov] : [start, moov, pictures]);
}

function largeBox(type: string, content_bytes: number): Uint8Array {
  const bytes = Buffer.alloc(16 + content_bytes);
  bytes.writeUInt32BE(1, 0);
  bytes.write(type, 4, 'latin1');
  bytes.writeBigUInt64BE(BigInt(bytes.length), 8);
  return bytes;
}
