#!/usr/bin/env python3
"""Speak InterLock, the UDP mesh of the experience server, by hand. Only Python's own library is needed.

    interlock.py send BUILD_COMPLETED outcome=success duration_ms=1200
    interlock.py send LESSON_LEARNED --sender consciousness --data '{"statement": "Run the tests first"}'
    interlock.py listen --port 3028

It knows the datagram from its description alone, and shares no code with the
router: a 12-byte header in network byte order (signal uint16, version uint16
0x0100, length of the payload uint32, Unix seconds uint32), then a JSON object in
UTF-8 with "sender" beside the data. With --key it signs what it sends and checks
what it hears (docs/integrations.md says how).
"""

import argparse
import hashlib
import hmac
import json
import re
import socket
import struct
import sys
import time

HEADER = struct.Struct(">HHII")
VERSION = 0x0100
SIGNALS = {
    "HEARTBEAT": 0x00, "BUILD_COMPLETED": 0xB0, "VALIDATION_APPROVED": 0xC0, "VALIDATION_REJECTED": 0xC1,
    "VERIFICATION_RESULT": 0xD0, "CLAIM_VERIFIED": 0xD1, "CLAIM_REFUTED": 0xD2, "LESSON_LEARNED": 0xE5,
    "OPERATION_COMPLETE": 0xFF, "EXPERIENCE_RECORDED": 0xF0, "PATTERN_EMERGED": 0xF1, "LESSON_EXTRACTED": 0xF2,
    "LESSON_VALIDATED": 0xF3,
}
NAMES = {code: name for name, code in SIGNALS.items()}
MAC = re.compile(rb',"mac":"([0-9a-f]{64})"\}\Z')


def encode(signal, data, key=b"", at=None):
    """Write a datagram. What is signed is all of it before the comma of its last member."""
    body = json.dumps(data, ensure_ascii=False).encode()
    if key:
        body = body[:-1]  # the signature brings the closing brace
    length = len(body) + (len(',"mac":""}') + 64 if key else 0)
    head = HEADER.pack(signal, VERSION, length, int(time.time() if at is None else at)) + body
    if not key:
        return head
    return head + b',"mac":"' + hmac.new(key, head, hashlib.sha256).hexdigest().encode() + b'"}'


def decode(datagram, key=b""):
    """Read a datagram into its signal's name, its time and its data. A ValueError says what is wrong."""
    if len(datagram) < HEADER.size:
        raise ValueError("shorter than a header")
    signal, version, length, at = HEADER.unpack_from(datagram)
    if version != VERSION:
        raise ValueError(f"version {version:#06x}")
    if length != len(datagram) - HEADER.size:
        raise ValueError(f"{len(datagram) - HEADER.size} bytes of payload, and the header says {length}")
    data = json.loads(datagram[HEADER.size:].decode())
    if not isinstance(data, dict) or not isinstance(data.get("sender"), str):
        raise ValueError("no object with a sender")
    mac = MAC.search(datagram)
    if key and not mac:
        raise ValueError("not signed")
    if key and not hmac.compare_digest(hmac.new(key, datagram[:mac.start()], hashlib.sha256).hexdigest().encode(), mac.group(1)):
        raise ValueError("not signed by this key")
    return NAMES.get(signal, hex(signal)), at, data


def value(text):
    """A member's value: JSON if it is that, else a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def send(options):
    data = json.loads(options.data) if options.data else {}
    if not isinstance(data, dict):
        sys.exit("--data must be a JSON object")
    for pair in options.members:
        name, there, text = pair.partition("=")
        if not there:
            sys.exit(f"{pair!r} is not NAME=VALUE")
        data[name] = value(text)
    data["sender"] = options.sender
    host, _, port = options.to.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    datagram = encode(SIGNALS[options.signal], data, options.secret)
    with socket.socket(family, socket.SOCK_DGRAM) as out:
        if options.from_port:
            out.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", options.from_port))
        out.sendto(datagram, (host, int(port)))
    print(f"sent {options.signal}, {len(datagram)} bytes, to {options.to}; a mesh never answers")


def listen(options):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind((options.host, options.port))
        if options.timeout:
            heard.settimeout(options.timeout)
        print(f"listening on {options.host}:{heard.getsockname()[1]}", file=sys.stderr, flush=True)
        count = 0
        while not options.count or count < options.count:
            try:
                datagram, source = heard.recvfrom(65535)
            except TimeoutError:
                sys.exit("nothing was heard")
            try:
                name, at, data = decode(datagram, options.secret)
            except ValueError as why:
                print(f"refused, from {source[0]}:{source[1]}: {why}", file=sys.stderr, flush=True)
                continue
            count += 1
            print(json.dumps({"signal": name, "at": at, "from": f"{source[0]}:{source[1]}", "data": data}, ensure_ascii=False), flush=True)


def main():
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--key-file", help="file whose first line is the key that is shared with the other side")
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    out = commands.add_parser("send", parents=[shared], help="send one datagram")
    out.add_argument("signal", type=str.upper, choices=sorted(SIGNALS))
    out.add_argument("members", nargs="*", metavar="NAME=VALUE", help="members of the data; a value is JSON or a text")
    out.add_argument("--data", help="the data as a JSON object")
    out.add_argument("--sender", default="by-hand")
    out.add_argument("--to", default="127.0.0.1:3031", metavar="HOST:PORT")
    out.add_argument("--from-port", type=int, default=0, help="send from this port")
    out.set_defaults(run=send)
    heard = commands.add_parser("listen", parents=[shared], help="print what comes in, a line of JSON each")
    heard.add_argument("--host", default="127.0.0.1")
    heard.add_argument("--port", type=int, default=3028, help="0 takes a free one")
    heard.add_argument("--count", type=int, default=0, help="end after so many")
    heard.add_argument("--timeout", type=float, default=0, help="end with exit code 1 after so many seconds of silence")
    heard.set_defaults(run=listen)
    options, rest = parser.parse_known_args()  # members may stand behind options too
    if options.command != "send" or any(word.startswith("-") for word in rest):
        options = parser.parse_args()
    else:
        options.members += rest
    options.secret = b""
    if options.key_file:
        with open(options.key_file, "rb") as file:
            options.secret = file.readline().strip()
    options.run(options)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
