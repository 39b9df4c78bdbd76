#!/usr/bin/env python3
"""Writes the seeds of the corpora again: what real servers and clients sent, and some by hand.

Inputs that fuzzing found lie beside them, under the names that libFuzzer gives, and stay.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDED = HERE.parents[1] / "core/src/wire/fixtures/zookeeper-3.9.5.txt"

# As core/src/fuzz/messages.rs lists them, by the operation's number.
OPERATIONS = [15, 19, 2, 4, 12, 9, 14, 101, 18, 100, 11, -11]

CONNECT_STRINGS = [
    "127.0.0.1:2181",
    "a:1,b:65535,c/chroot/x",
    " A.Example.org:2181 , [fe80::1%eth0]:99",
    "[::1],[0::2]:2181/zk",
    "a,,b",
    "::1",
    "a:+1",
    "zk://a:1",
    "/locks/order/user-123",
    "/a/../b",
    "/zookeeper/x",
]

CONTENDER_NAMES = [
    "_c_00112233-4455-6677-8899-aabbccddeeff-lock-0000000000",
    "_c_00112233-4455-6677-8899-aabbccddeeff-__READ__0000000007\n"
    "_c_00112233-4455-6677-8899-aabbccddeeff-__WRIT__0000000007",
    "00112233445566778899aabbccddeeff__lock__0000000001\n00112233445566778899aabbccddeeff__rlock__0000000002",
    "x-lock--2147483648\ny-lock-2147483647",
    "lock-\n-lock-\n-lock-12x\nä-lock-1",
]

# Programs for core/src/fuzz/sessions.rs.
SESSIONS = [
    # A mutex: create, list, granted, released, deleted.
    bytes([10, 0, 2, 2, 2, 13, 2, 2]),
    # Two of them on one path, the second granted when the first goes.
    bytes([10, 0, 2, 2, 10, 0, 2, 2, 2, 13, 2, 2, 8, 2, 0, 2, 2]),
    # A read-write lock whose owner downgrades.
    bytes([10, 0b10110, 2, 2, 10, 0b10010, 2, 2, 2, 13, 13, 2, 2]),
    # The create is in doubt.
    bytes([10, 0, 14, 9, 20, 15, 1, 2, 2, 2, 2, 2, 2]),
    # The session is over.
    bytes([10, 0, 2, 2, 14, 9, 20, 15, 0, 9, 20, 15, 2, 2, 2, 2]),
    # The lease runs out.
    bytes([10, 1, 2, 2, 2, 9, 255, 9, 255, 15, 1, 2, 2]),
    # No parent, no containers.
    bytes([10, 1, 6, 3, 6, 3, 6, 2, 6, 2, 2, 2, 2, 2, 2, 2]),
    # A stranger in front, then a cancel.
    bytes([15, 3, 14]) + b"x-lock-0000000" + bytes([10, 0, 2, 2, 2, 12, 0, 2, 2]),
    # Bytes that are no frame, and a frame that is no message.
    bytes([0, 5, 255, 255, 255, 255, 1, 1, 3, 0, 0, 0]),
]


def recorded() -> list[tuple[str, bytes, bytes]]:
    exchanges = []
    for line in RECORDED.read_text().splitlines():
        if not line.startswith("#"):
            name, sent, received = line.split(" ")
            exchanges.append(
                (name, b"" if sent == "-" else bytes.fromhex(sent), bytes.fromhex(received))
            )
    return exchanges


def write(target: str, name: str, data: bytes) -> None:
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def main() -> None:
    exchanges = recorded()
    requests = b""
    for name, sent, received in exchanges:
        message = received[4:]
        if not sent:
            write("events", name, b"\x01" + message)
        elif "connect" in name or name == "resume":
            write("events", name, b"\x00" + message)
            write("server", name, b"\x00" + sent)
        else:
            operation = int.from_bytes(sent[8:12], "big", signed=True)
            choice = OPERATIONS.index(operation) if operation in OPERATIONS else 0
            write("replies", name, bytes([choice]) + message)
            requests += sent
    write("server", "all-requests", b"\x01" + requests)
    for number, (name, sent, _) in enumerate(exchanges):
        if sent and number % 3 == 0 and "connect" not in name:
            write("server", name, b"\x01" + sent)
    answers = b"".join(received for _, _, received in exchanges)
    for piece in (1, 7, 255):
        write("frames", f"answers-by-{piece}", bytes([piece]) + answers[:2000])
    write("frames", "negative", b"\x04\x00\x00\x00\x01x\xff\xff\xff\xff")
    write("frames", "over-the-limit", b"\x04\x00\x00\x10\x01x")
    write("frames", "empty-ones", b"\x09" + bytes(40))
    for number, text in enumerate(CONNECT_STRINGS):
        write("connect_strings", f"seed-{number:02}", text.encode())
    for number, text in enumerate(CONTENDER_NAMES):
        write("contender_names", f"seed-{number:02}", text.encode())
    for number, program in enumerate(SESSIONS):
        write("sessions", f"seed-{number:02}", program)


if __name__ == "__main__":
    main()
