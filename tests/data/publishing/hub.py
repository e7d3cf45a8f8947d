"""A server on loopback that plays as much of the Hugging Face Hub as pushing and loading a dataset needs."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

TOKEN = "hf_of-nobody"


class Hub(BaseHTTPRequestHandler):
    """Answers as the Hub does, and keeps the files of its one dataset."""

    protocol_version = "HTTP/1.1"
    files: ClassVar[dict[str, bytes]]
    created: ClassVar[list[dict[str, Any]]]
    commits: ClassVar[list[dict[str, list[str]]]]
    """What each commit changed: "file" and "deletedFile" -> paths."""

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._json({"error": "Invalid username or password."}, 401)
        elif path == "/api/repos/create":
            new = not self.created
            self.created.append(json.loads(sent))
            self._json({"url": self._at("datasets/somebody/talks")}, 200 if new else 409)
        elif path == "/api/validate-yaml":
            self._json({"errors": [], "warnings": []})
        elif "/preupload/" in path:
            given = json.loads(sent)["files"]
            ways = [{"path": one["path"], "uploadMode": "regular", "shouldIgnore": False} for one in given]
            self._json({"files": ways})
        elif "/commit/" in path:
            self._commit([json.loads(line) for line in sent.splitlines()])
        elif "/paths-info/" in path:
            self._json([self._info(name) for name in self.files if name in unquote(sent.decode())])
        else:
            self._json({"error": f"not played: {path}"}, 404)

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if "/resolve/" in path:
            self._file(path.split("/resolve/")[1].partition("/")[2])
        elif "/tree/" in path:
            below = path.split("/tree/")[1].partition("/")[2]
            found = [self._info(name) for name in sorted(self.files) if name.startswith(below)]
            self._json(found, 200 if found or not below else 404)
        elif path.startswith("/api/datasets/somebody/talks"):
            files = [{"rfilename": name} for name in sorted(self.files)]
            self._json({"id": "somebody/talks", "sha": self._sha(), "siblings": files, "private": False})
        else:
            self._json({"error": f"not played: {path}"}, 404)

    do_HEAD = do_GET

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def _commit(self, lines: list[dict[str, Any]]) -> None:
        changed: dict[str, list[str]] = {}
        for line in lines[1:]:
            value = line["value"]
            changed.setdefault(line["key"], []).append(value["path"])
            if line["key"] == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            else:
                del self.files[value["path"]]
        self.commits.append(changed)
        address = self._at(f"datasets/somebody/talks/commit/{self._sha()}")
        self._json({"success": True, "commitOid": self._sha(), "commitUrl": address})

    def _file(self, name: str) -> None:
        if name in self.files:
            told = {"X-Repo-Commit": self._sha(), "ETag": f'"{_digest(self.files[name])}"'}
            self._send(self.files[name], 200, "application/octet-stream", told)
        else:
            self._json({"error": "Entry not found"}, 404, {"X-Error-Code": "EntryNotFound"})

    def _info(self, name: str) -> dict[str, Any]:
        content = self.files[name]
        return {"type": "file", "path": name, "size": len(content), "oid": _digest(content)}

    def _sha(self) -> str:
        return _digest(repr(sorted((name, _digest(held)) for name, held in self.files.items())).encode())

    def _at(self, path: str) -> str:
        return f"http://{self.headers['Host']}/{path}"

    def _json(self, body: Any, status: int = 200, told: dict[str, str] | None = None) -> None:
        self._send(json.dumps(body).encode(), status, "application/json", told or {})

    def _send(self, body: bytes, status: int, kind: str, told: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **told}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _digest(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


@contextmanager
def hub() -> Iterator[tuple[str, type[Hub]]]:
    """The server's URL, and what it is given."""

    class Keeping(Hub):
        files: ClassVar[dict[str, bytes]] = {".gitattributes": b"*.parquet filter=lfs\n"}
        created: ClassVar[list[dict[str, Any]]] = []
        commits: ClassVar[list[dict[str, list[str]]]] = []

    with ThreadingHTTPServer(("127.0.0.1", 0), Keeping) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", Keeping
        finally:
            server.shutdown()
            thread.join()
