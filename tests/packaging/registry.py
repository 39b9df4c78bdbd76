"""A registry of npm packages on this machine: they are found and chosen as published ones are."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from artefacts import contents


class Registry:
    """Serves package files. A context manager that ends it."""

    def __init__(self, packages: Iterable[Path]) -> None:
        self.asked: list[str] = []
        self._documents: dict[str, dict[str, Any]] = {}
        self._files: dict[str, bytes] = {}
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                registry._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        for package in packages:
            self._add(package)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def __enter__(self) -> Registry:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _add(self, package: Path) -> None:
        data = package.read_bytes()
        manifest = json.loads(contents(package)["package/package.json"])
        name, version = manifest["name"], manifest["version"]
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
        manifest["dist"] = {"tarball": f"{self.url}/files/{package.name}", "integrity": integrity}
        self._documents[name] = {
            "name": name,
            "dist-tags": {"latest": version},
            "versions": {version: manifest},
        }
        self._files[f"/files/{package.name}"] = data

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(request.path)
        document = self._documents.get(request.path.removeprefix("/"))
        data = json.dumps(document).encode() if document else self._files.get(request.path)
        request.send_response(200 if data else 404)
        request.send_header("content-length", str(len(data or b"")))
        request.end_headers()
        request.wfile.write(data or b"")
