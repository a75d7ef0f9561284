# SPDX-License-Identifier: Apache-2.0
"""A road to a server: TLS, or the delay and the rate of a connection to S3, on this machine.

    road.py PORT [--tls CERT KEY] [--delay-ms 30] [--rate-MBps 85]    prints its own port

Each connection is passed on to 127.0.0.1:PORT. What the server sends comes `delay` later, at no
more than `rate` a connection. Ends with its standard input. One thread: about 500 MB/s in all,
which bounds what is measured through it; clients beside each other meet the same bound.
"""
import argparse
import asyncio
import collections
import ssl
import sys

CHUNK = 256 << 10


async def pass_on(reader, writer):
    """As fast as it comes: requests are short."""
    try:
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
    except (ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.close()


async def send_back(reader, writer, delay, rate):
    """Late, and at the rate. What is on its way is at most a second of the rate."""
    clock = asyncio.get_running_loop().time
    on_its_way, arrived, room = collections.deque(), asyncio.Event(), asyncio.Event()
    room.set()

    async def send():
        free = 0.0  # when the wire is free again
        while True:
            while not on_its_way:
                arrived.clear()
                await arrived.wait()
            came, chunk = on_its_way.popleft()
            room.set()
            if chunk is None:
                return
            due = max(came + delay, free)
            if (wait := due - clock()) > 0:
                await asyncio.sleep(wait)
            free = max(due, clock() - 0.05) + (len(chunk) / rate if rate else 0)
            writer.write(chunk)
            await writer.drain()

    sender = asyncio.create_task(send())
    try:
        while True:
            chunk = await reader.read(CHUNK)
            on_its_way.append((clock(), chunk or None))
            arrived.set()
            if not chunk:
                break
            if len(on_its_way) > 256:
                room.clear()
                await room.wait()
        await sender
    except (ConnectionError, ssl.SSLError):
        sender.cancel()
    finally:
        writer.close()


async def main(options):
    async def serve(reader, writer):
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", options.port, limit=CHUNK)
        except ConnectionError:
            writer.close()
            return
        back = (send_back(up_reader, writer, options.delay_ms / 1000, options.rate_MBps * 1e6)
                if options.delay_ms or options.rate_MBps else pass_on(up_reader, writer))
        await asyncio.gather(pass_on(reader, up_writer), back)

    context = None
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=CHUNK, backlog=1024, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--rate-MBps", type=float, default=0)
    asyncio.run(main(parser.parse_args()))
