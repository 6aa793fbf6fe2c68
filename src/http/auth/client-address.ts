import ipaddr from 'ipaddr.js';
import { type Cidr, isWithin, parseAddress } from '../../config/cidr-list.ts';
import type { RequestContext } from '../endpoint.ts';

/** Used if a socket has no address, e.g. because the client has already left. */
const UNKNOWN = 'unknown';
/**
 * The first bytes of an IPv6 address, which all addresses of one customer usually have in common
 * (RFC 6177).
 */
const IPV6_PREFIX_BYTES = 8;
/** An address, with a port or without one. Some proxies add the port. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i;
/**
 * Headers that proxies add. A request with one of them was forwarded, so the peer of its socket is
 * not its sender.
 */
const FORWARDING_HEADER =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-original-forwarded-for|x-real-ip|x-client-ip|x-cluster-client-ip|x-envoy-external-address|true-client-ip|client-ip|cf-connecting-ip|fastly-client-ip)$/;

/**
 * Returns the address that a client's wrong credentials are counted under: an IPv4 address, or the
 * /64 block of an IPv6 address.
 *
 * If the peer of the socket is not one of `proxies`, the result is the peer's address. Otherwise it
 * is the right-most address of `X-Forwarded-For` that is not one of `proxies`, because each proxy
 * appends the address of its own peer. The client may have forged all addresses further left. If
 * the chosen address is malformed, the result is the peer's address.
 */
export function clientAddress(context: RequestContext, proxies: readonly Cidr[]): string {
  const peer = peerOf(context);
  if (!peer) return UNKNOWN;
  if (proxies.length === 0 || !isWithin(peer, proxies)) return blockOf(peer);
  const forwarded = context.request.headers.get('x-forwarded-for');
  return blockOf((forwarded && rightmostForeign(forwarded, proxies)) || peer);
}

/** True if the request comes straight from a process of this machine, and not through a proxy. */
export function isLocalRequest(context: RequestContext): boolean {
  if (peerOf(context)?.range() !== 'loopback') return false;
  for (const name of context.request.headers.keys()) if (FORWARDING_HEADER.test(name)) return false;
  return true;
}

function peerOf({ request, server }: RequestContext) {
  const peer = server?.requestIP(request)?.address;
  return peer === undefined ? undefined : parseAddress(peer);
}

/**
 * Reads the list from the right, and returns the first address that is not in `proxies`. If all
 * addresses are in `proxies`, returns the left-most address. If it reads a malformed entry before
 * it finds the address, returns undefined.
 */
function rightmostForeign(forwarded: string, proxies: readonly Cidr[]) {
  let end = forwarded.length;
  for (;;) {
    const comma = end === 0 ? -1 : forwarded.lastIndexOf(',', end - 1);
    const entry = forwarded.slice(comma + 1, end).trim();
    const [, ipv6, ipv4] = WITH_PORT.exec(entry) ?? [];
    const address = parseAddress(ipv6 ?? ipv4 ?? entry);
    if (!address || comma < 0 || !isWithin(address, proxies)) return address;
    end = comma;
  }
}

function blockOf(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (address.kind() === 'ipv4') return address.toString();
  const bytes = address.toByteArray().fill(0, IPV6_PREFIX_BYTES);
  return `${ipaddr.fromByteArray(bytes)}/${IPV6_PREFIX_BYTES * 8}`;
}
