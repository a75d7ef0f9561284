# SPDX-License-Identifier: Apache-2.0
"""An S3 server that misbehaves on order: the real one behind a proxy that changes its answers.

The client signs for the proxy's address, which is passed on, so signatures stay valid.

    with Proxy(endpoint, strip_etags) as proxy: headrace(..., env={..., "AWS_ENDPOINT_URL": proxy.url})
"""

import http.client
import http.server
import re
import threading
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    cut_after: int | None = None  # bytes of the body to send before the connection is dropped


@dataclass
class Request:
    method: str
    path: str  # with the query, as it came
    headers: dict[str, str]
    number: int  # of all requests to this proxy, from 0
    seen: int  # times this very request (method, path, range) came before


Rule = Callable[[Request, Answer], Answer]


def strip_etags(request: Request, answer: Answer) -> Answer:
    """A server without ETags: neither in headers nor in listings."""
    answer.headers = [(k, v) for k, v in answer.headers if k.lower() != "etag"]
    if answer.body.startswith(b"<?xml"):
        answer.body = re.sub(rb"<ETag>.*?</ETag>", b"", answer.body)
    return answer


def slow_down(times: int) -> Rule:
    """Each GET is refused `times` times with 503 SlowDown before it is answered."""

    def rule(request: Request, answer: Answer) -> Answer:
        if request.method != "GET" or request.seen >= times:
            return answer
        body = b'<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>slow</Message></Error>'
        return Answer(503, [("Content-Type", "application/xml")], body)

    return rule


def cut_bodies(times: int) -> Rule:
    """The connection ends in the middle of the body, `times` times for each object."""

    def rule(request: Request, answer: Answer) -> Answer:
        if request.method == "GET" and request.seen < times and len(answer.body) > 100:
            answer.cut_after = len(answer.body) // 2
        return answer

    return rule


@dataclass
class Proxy:
    endpoint: str
    rule: Rule
    before: Callable[[Request], None] = lambda request: None  # e.g. to sleep or change an object
    requests: list[Request] = field(default_factory=list)

    def __enter__(self):
        outer = self
        lock = threading.Lock()
        counts: dict[tuple, int] = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def forward(self):
                length = int(self.headers.get("Content-Length") or 0)
                sent = self.rfile.read(length)
                key = (self.command, self.path, self.headers.get("Range"))
                with lock:
                    request = Request(self.command, self.path, dict(self.headers), len(outer.requests),
                                      counts.get(key, 0))
                    counts[key] = request.seen + 1
                    outer.requests.append(request)
                outer.before(request)
                target = urllib.parse.urlsplit(outer.endpoint)
                upstream = http.client.HTTPConnection(target.hostname, target.port, timeout=60)
                upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    upstream.putheader(name, value)
                upstream.endheaders(sent)
                got = upstream.getresponse()
                body = got.read()
                drop = {"connection", "transfer-encoding", "date", "server"}
                if self.command != "HEAD":
                    drop.add("content-length")
                headers = [(k, v) for k, v in got.getheaders() if k.lower() not in drop]
                upstream.close()
                self.answer(outer.rule(request, Answer(got.status, headers, body)))

            def answer(self, answer: Answer):
                self.send_response(answer.status)
                for name, value in answer.headers:
                    self.send_header(name, value)
                if self.command != "HEAD":
                    self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body[: answer.cut_after])
                if answer.cut_after is not None:
                    self.close_connection = True

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = forward

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request, client_address):
                pass  # a client that went away is what some stories are about

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *unused):
        self.server.shutdown()
        self.server.server_close()
