import type { Transporter } from 'nodemailer';

/** How long one step of a delivery may take. */
const STEP_MS = 10_000;

/** A mail of plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /**
   * Names the mail in its `Message-ID`. Each attempt to send the same mail has the same one, so that programs that
   * read it twice recognise it.
   */
  readonly id?: string;
}

/** Sends mails through an SMTP server. */
export class Mailer {
  private transport: Promise<Pick<Transporter, 'sendMail' | 'close'>> | undefined;

  /** `url` is `smtp://user:password@host:port`, or `smtps://…` for TLS from the start. */
  constructor(
    private readonly url: string,
    private readonly from: string,
  ) {}

  /** Hands a mail to the SMTP server. Rejects if the server does not take it. */
  async send({ to, subject, text, id }: Mail): Promise<void> {
    this.transport ??= this.open();
    await (await this.transport).sendMail({
      ...{ from: this.from, to: { name: '', address: to }, subject, text },
      ...(id === undefined ? {} : { headers: { 'message-id': `<${id}@${this.domain}>` } }),
      // The text is Weir's own; it must not make the library read files or addresses.
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
  }

  /** The part of the sender's address after `@`. */
  private get domain(): string {
    return this.from.slice(this.from.lastIndexOf('@') + 1).replace(/>$/, '');
  }

  /** The library is loaded with the first mail, so that it delays no start. */
  private async open() {
    const { createTransport } = await import('nodemailer');
    return createTransport({
      ...{ url: this.url, connectionTimeout: STEP_MS, greetingTimeout: STEP_MS },
      socketTimeout: STEP_MS,
    });
  }
}
