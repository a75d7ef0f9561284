# SPDX-License-Identifier: Apache-2.0
"""Other S3 clients, each reading every object below a prefix once into memory.

    peers.py NAME BUCKET PREFIX [IN_FLIGHT]     prints one object of JSON, as s3_read_rate does

Run by bench/storage/run, with a Python that has the client. Listing and start-up are not measured.
"""
import asyncio
import concurrent.futures
import json
import os
import sys
import time

ENDPOINT, REGION = os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_REGION"]
PART = 8 << 20
CA = os.environ.get("AWS_CA_BUNDLE") if ENDPOINT.startswith("https") else None


def list_keys(bucket, prefix):
    import boto3
    client = boto3.client("s3", endpoint_url=ENDPOINT, region_name=REGION)
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return [(entry["Key"], entry["Size"]) for page in pages for entry in page.get("Contents", [])]


def ranges(keys):
    """Whole small objects; parts of large ones."""
    for key, size in keys:
        if size <= PART:
            yield key, 0, size
        else:
            yield from ((key, at, min(PART, size - at)) for at in range(0, size, PART))


def with_boto3(bucket, keys, in_flight=16):
    import boto3
    from botocore.config import Config
    config = Config(max_pool_connections=in_flight)
    client = boto3.client("s3", endpoint_url=ENDPOINT, region_name=REGION, config=config)

    def read(what):
        key, at, size = what
        answer = client.get_object(Bucket=bucket, Key=key, Range=f"bytes={at}-{at + size - 1}")
        return len(answer["Body"].read())

    with concurrent.futures.ThreadPoolExecutor(in_flight) as pool:
        return sum(pool.map(read, ranges(keys)))


def with_obstore(bucket, keys, in_flight=32):
    import obstore
    from obstore.store import S3Store
    options = {"allow_http": True, "allow_invalid_certificates": bool(CA)}
    store = S3Store(bucket, endpoint=ENDPOINT, region=REGION, client_options=options,
                    virtual_hosted_style_request=False)

    async def run():
        slots, total = asyncio.Semaphore(in_flight), 0

        async def read(key, at, size):
            async with slots:
                return len(await obstore.get_range_async(store, key, start=at, end=at + size))

        for size in await asyncio.gather(*(read(*what) for what in ranges(keys))):
            total += size
        return total

    return asyncio.run(run())


def with_awscrt(bucket, keys, in_flight=64):
    import threading

    from awscrt.auth import AwsCredentialsProvider
    from awscrt.http import HttpHeaders, HttpRequest
    from awscrt.io import ClientBootstrap, DefaultHostResolver, EventLoopGroup
    from awscrt.s3 import S3Client, S3RequestTlsMode, S3RequestType
    loops = EventLoopGroup()
    provider = AwsCredentialsProvider.new_static(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    tls = {"tls_mode": S3RequestTlsMode.DISABLED}
    if CA:
        from awscrt.io import ClientTlsContext, TlsContextOptions
        trust = TlsContextOptions()
        trust.override_default_trust_store_from_path(None, CA)
        tls = {"tls_mode": S3RequestTlsMode.ENABLED,
               "tls_connection_options": ClientTlsContext(trust).new_connection_options()}
    client = S3Client(bootstrap=ClientBootstrap(loops, DefaultHostResolver(loops)), region=REGION,
                      credential_provider=provider, part_size=PART, throughput_target_gbps=10, **tls)
    slots, lock, total = threading.Semaphore(in_flight), threading.Lock(), [0]
    host = ENDPOINT.split("://")[1]

    def on_body(chunk, offset, **_):
        with lock:
            total[0] += len(chunk)

    def on_done(**_):
        slots.release()

    requests = []
    for key, _ in keys:
        slots.acquire()
        request = HttpRequest("GET", f"/{bucket}/{key}", HttpHeaders([("host", host)]))
        requests.append(client.make_request(type=S3RequestType.GET_OBJECT, request=request, on_body=on_body,
                                            on_done=on_done))
        requests = [each for each in requests if not each.finished_future.done()]
    for each in requests:
        each.finished_future.result()
    return total[0]


def with_s3torchconnector(bucket, keys, in_flight=16):
    from s3torchconnectorclient._mountpoint_s3_client import MountpointS3Client

    client = MountpointS3Client(region=REGION, endpoint=ENDPOINT, user_agent_prefix="bench", force_path_style=True)

    def read(what):
        return sum(len(chunk) for chunk in client.get_object(bucket, what[0]))

    with concurrent.futures.ThreadPoolExecutor(in_flight) as pool:
        return sum(pool.map(read, keys))


CLIENTS = {"boto3": with_boto3, "obstore": with_obstore, "awscrt": with_awscrt,
           "s3torchconnector": with_s3torchconnector}
MODULES = {"s3torchconnector": "s3torchconnectorclient"}  # its client alone: the rest imports torch


def main():
    name, bucket, prefix, *in_flight = sys.argv[1:]
    client = CLIENTS[name]
    __import__(MODULES.get(name, name))
    keys = list_keys(bucket, prefix)
    processor, begin = time.process_time(), time.perf_counter()
    got = client(bucket, keys, *map(int, in_flight))
    wall, processor = time.perf_counter() - begin, time.process_time() - processor
    assert got == sum(size for _, size in keys), f"{name}: {got} bytes"
    print(json.dumps({"objects": len(keys), "bytes": got, "seconds": wall, "cpu_seconds": processor}), flush=True)
    os._exit(0)  # obstore's threads crash the interpreter's end now and then


main()
