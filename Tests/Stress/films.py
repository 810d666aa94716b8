"""A source that is a program (type `exec`): honest titles whose pictures' colours are those of their ids, or lies, as its argument says.

    python3 films.py honest|liar ORIGIN [FOLDER]

ORIGIN is the address of pictures, such as 127.0.0.2:9000. The liar counts its calls in FOLDER/liar-calls.
"""

import json, sys, urllib.parse


def honest(method, params):
    id = params.get("id", "")
    if method == "titles":
        return {"titles": [], "total": 0}
    if method == "title":
        return {"id": id, "name": f"Film {id}"}
    return {"candidates": [{"url": f"http://{sys.argv[2]}/good/60x90/{urllib.parse.quote(id, safe='')}.png", "width": 60, "height": 90}]}


class Fault(Exception):
    pass


def liar(method, params):
    word = params.get("phrase", params.get("id", ""))
    if word.startswith("until"):
        raise Fault({"code": -32003, "message": "used up", "data": {"until": 1e300 if "huge" in word else -1e300}})
    if method == "titles":
        if word.startswith("loop"):
            return {"titles": [{"id": "1", "name": "One"}], "total": 2, "next": 1}
        if word.startswith("grow"):
            page = params.get("page", 1)
            return {"titles": [{"id": f"{page}-{n}", "name": "More"} for n in range(100)], "total": 2**63 - 1, "next": page + 1}
        if word.startswith("last"):
            return {"titles": [{"id": "1", "name": "One", "rank": 2**63 - 1}], "total": 2**63 - 1, "next": 2**63 - 1}
        return {"titles": [{"id": "1", "name": "One", "rank": -2**63}], "total": -2**63, "next": -2**63}
    if method == "title":
        return {"id": word, "name": "x" * (1 << 20), "rank": 2**63 - 1, "metadata": {"a": 1e308, "b": -2**63}}
    return {"candidates": [{"url": "http://" + sys.argv[2] + "/good/60x90/1.png", "width": 2**63 - 1, "height": 2**63 - 1}] * 1000}


calls = 0
for line in sys.stdin:
    call = json.loads(line)
    calls += 1
    if len(sys.argv) > 3 and calls % 10 == 0:
        with open(sys.argv[3] + "/liar-calls", "w") as file:
            file.write(str(calls))
    answer = {"jsonrpc": "2.0", "id": call["id"]}
    try:
        if call["method"] == "initialize":
            answer["result"] = {"protocol": 1}
        else:
            answer["result"] = (liar if sys.argv[1] == "liar" else honest)(call["method"], call["params"])
    except Fault as fault:
        answer["error"] = fault.args[0]
    print(json.dumps(answer), flush=True)
