#!/usr/bin/env python3
"""A content source for Onesheet: JSON-RPC 2.0, one message per line."""

import json
import sys

PICTURES = "http://127.0.0.1:9090/pictures/films.example"
FILMS = {
    "1": {"id": "1", "name": "The Moon's Gardener", "originalName": "달의 정원사", "releaseDate": "2026-10-28", "picture": "2026A100"},
    "2": {"id": "2", "name": "Galaxy Laundry", "originalName": "은하 세탁소", "releaseDate": "2026-11-04", "picture": "2026A107"},
    "3": {"id": "3", "name": "Paper Spaceship", "originalName": "종이 우주선", "releaseDate": "2026-09-09", "picture": "2026A114"},
}


class Fault(Exception):
    """code: -32001 not found, -32002 unauthorized, -32003 quota exhausted, -32004 unavailable, -32005 unsupported"""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def film(params):
    if params["id"] not in FILMS:
        raise Fault(-32001, "there is no such film")
    return FILMS[params["id"]]


def title(params):
    return {key: value for key, value in film(params).items() if key != "picture"}


def titles(params):
    if "date" in params:
        raise Fault(-32005, "lists by day")
    phrase = params.get("phrase", "").lower()
    found = [title({"id": id}) for id in FILMS if phrase in FILMS[id]["name"].lower()]
    return {"titles": found if params["page"] == 1 else [], "total": len(found)}


def candidates(params):
    picture = film(params)["picture"]
    return {"candidates": [{"url": f"{PICTURES}/{picture}/1000x1436/poster.jpg", "width": 1000, "height": 1436, "site": "films.example"}]}


def initialize(params):
    return {"protocol": 1}


METHODS = {"initialize": initialize, "titles": titles, "title": title, "candidates": candidates}

for line in sys.stdin:
    call = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": call["id"]}
    try:
        if call["method"] not in METHODS:
            raise Fault(-32601, call["method"])
        answer["result"] = METHODS[call["method"]](call["params"])
    except Fault as fault:
        answer["error"] = {"code": fault.code, "message": str(fault)}
    print(json.dumps(answer, ensure_ascii=False), flush=True)
