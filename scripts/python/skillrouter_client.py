#!/usr/bin/env python3
"""A small client of Skill Router, standard library only, to copy into an agent.

    from skillrouter_client import SkillRouter
    router = SkillRouter(agent="builder-1")
    router.heartbeat(current_task="fix the parser")
    for hit in router.search("borrow checker"):
        print(hit["title"], hit["relevance_score"])
    for message in router.messages():       # reconnects, and loses and repeats nothing
        if message["signal"] == "stop":
            router.ack(message)
            break

    @auto_cache(ttl=3600, category="schemas")   # computed once for the whole team, for an hour
    def get_schema(table): ...

The address and the token come from SKILLROUTER_SERVER and SKILLROUTER_TOKEN if
they are not given. Run as a program it prints the agent's messages.
"""

import functools
import hashlib
import inspect
import json
import os
import random
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


class Refused(Exception):
    """The router refused a call. `code` and `field` say what to mend."""

    def __init__(self, status, problem):
        super().__init__(problem.get("detail") or problem.get("error") or f"HTTP {status}")
        self.status = status
        self.code = problem.get("code", "")
        self.field = problem.get("field", "")


class SkillRouter:
    def __init__(self, agent, server=None, token=None, timeout=30):
        self.agent = agent
        self.server = (server or os.environ.get("SKILLROUTER_SERVER") or "http://127.0.0.1:8025").rstrip("/")
        self.token = token or os.environ.get("SKILLROUTER_TOKEN")
        self.timeout = timeout

    def heartbeat(self, **fields):
        """Checks in. Fields: status, current_task, role, model, pid, project_path, config_name."""
        return self.call("POST", "/heartbeat", {"agent_id": self.agent, **fields})

    def status(self, status, **fields):
        """Says what the agent is doing. Fields: current_task, progress (0 to 100)."""
        return self.call("POST", "/status", {"agent_id": self.agent, "status": status, **fields})

    def signal(self, to, name, context=None, **fields):
        """Sends a signal; an empty `to` sends it to all."""
        body = {"from_agent_id": self.agent, "to_agent_id": to, "signal": name, **fields}
        if context is not None:
            body["context"] = context
        return self.call("POST", "/signal", body)

    def inbox(self, unacked=True, since=0):
        query = urllib.parse.urlencode({"agent_id": self.agent, "unacked": str(unacked).lower(), "since": since})
        return self.call("GET", "/messages/inbox?" + query)["messages"]

    def ack(self, *messages):
        return self.call("POST", "/messages/ack", {"agent_id": self.agent, "message_ids": [m["message_id"] for m in messages]})["acked"]

    def remember(self, category, title, content, **fields):
        """Stores what was learned. Fields: tags, project, source, id."""
        return self.call("POST", "/api/knowledge", {"category": category, "title": title, "content": content, **fields})

    def search(self, query, **fields):
        """Searches knowledge. Fields: category, project, tags, limit, explain."""
        return self.call("POST", "/api/knowledge/search", {"query": query, **fields})["results"]

    def query(self, text, **fields):
        """Asks a question; the router decides which store answers it."""
        return self.call("POST", "/query", {"query": text, "agent_id": self.agent, **fields})

    def messages(self, last_event_id=None):
        """Yields each message once and in order, for ever. Without last_event_id
        it begins with the first that is not acknowledged."""
        wait = 0.25
        while True:
            headers = {"Accept": "text/event-stream"}
            if last_event_id is not None:
                headers["Last-Event-ID"] = str(last_event_id)
            try:
                # The router sends a comment every 15 s: three missed, and the connection is dead.
                with self._open("GET", "/messages?" + urllib.parse.urlencode({"agent_id": self.agent}), headers=headers, timeout=45) as stream:
                    wait = 0.25
                    data = []
                    for line in stream:
                        line = line.decode("utf-8").rstrip("\r\n")
                        if line.startswith("data:"):
                            data.append(line[5:].removeprefix(" "))
                        elif line == "" and data:
                            message, data = json.loads("\n".join(data)), []
                            if last_event_id is None or message["seq"] > last_event_id:
                                last_event_id = message["seq"]
                                yield message
            except Refused as refused:
                if refused.status < 500:
                    raise
            except (OSError, urllib.error.URLError):
                pass  # it is away: come back
            time.sleep(wait * (0.5 + random.random() / 2))
            wait = min(wait * 2, 5)

    def remember_fact(self, key, value, ttl=3600, category="general", persona="default", **fields):
        """Keeps a value under a key for ttl seconds, 0 for ever. Fields: probe, source, if_version."""
        return self.call("PUT", _fact(persona, key), {"value": value, "ttl": ttl, "category": category, **fields})

    def recall_fact(self, key, persona="default"):
        """The value under a key, or None. A dict also says when it was stored, as `_cached_at`."""
        try:
            fact = self.call("GET", _fact(persona, key))
        except Refused as refused:
            if refused.status == 404:
                return None
            raise
        if isinstance(fact["value"], dict):
            return {**fact["value"], "_cached_at": fact["_cached_at"]}
        return fact["value"]

    def search_facts(self, category=None, pattern=None, persona="default"):
        """The values by their keys. The pattern is a glob over the whole key: * ? [a-z] [!a-z]."""
        found, query = {}, {"persona": persona, "category": category or "", "pattern": pattern or ""}
        while True:
            page = self.call("POST", "/api/facts/search", query)
            found.update((fact["key"], fact["value"]) for fact in page["facts"])
            if not page.get("next"):
                return found
            query["cursor"] = page["next"]

    def update_fact(self, key, value, persona="default", **fields):
        """Gives a fact a new value, for as long as the old one was to live. Fields: ttl, probe, source, if_version."""
        return self.call("PATCH", _fact(persona, key), {"value": value, **fields})

    def forget_fact(self, key, persona="default"):
        self.call("DELETE", _fact(persona, key))

    def cached(self, key, compute, ttl=3600, category="general", persona="default", stale_ok=False, wait=20):
        """The value under key, or what compute() returns, which is kept. Of all who ask at
        once, in whatever processes, one computes and the others wait. None, a value that
        JSON would change, that holds a secret or is too large is not kept, and without a
        router everyone computes."""
        lease = None
        try:
            while lease is None:
                answer = self.call("POST", "/api/facts/cache", {
                    "key": key, "persona": persona, "stale_ok": stale_ok, "lease_ms": LEASE * 1000, "wait_ms": int(min(wait, self.timeout / 2) * 1000)})
                if "fact" in answer:
                    return answer["fact"]["value"]
                lease = answer.get("lease")
                if lease is None and not wait:
                    return compute()
        except (Refused, OSError):
            return compute()
        computed = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(lease, computed), daemon=True)
        renewing.start()
        kept = False
        try:
            value = compute()
            if value is not None and _survives_json(value):
                try:
                    kept = self.call("POST", "/api/facts/cache/complete", {"lease": lease, "value": value, "ttl": ttl, "category": category})["stored"]
                except (Refused, OSError):
                    pass
            return value
        finally:
            computed.set()
            if not kept:
                self._end("release", lease)

    def _renew(self, lease, computed):
        while not computed.wait(LEASE / 3):
            self._end("renew", lease)

    def _end(self, how, lease):
        try:
            self.call("POST", "/api/facts/cache/" + how, {"lease": lease})
        except (Refused, OSError):
            pass  # it runs out by itself

    def call(self, method, path, body=None):
        with self._open(method, path, body, timeout=self.timeout) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def _open(self, method, path, body=None, headers=None, timeout=None):
        request = urllib.request.Request(self.server + path, method=method, headers=dict(headers or {}))
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("Authorization", "Bearer " + self.token)
        try:
            return urllib.request.urlopen(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                try:
                    problem = json.load(error)
                except ValueError:
                    problem = {}
            raise Refused(error.code, problem) from None


LEASE = 15  # seconds that the others wait for a process that died while it computed
SLOW = 1.0  # seconds from which on a call of a helper is worth keeping
_memory = {"router": None, "persona": "default"}


def use_memory(router, persona="default"):
    """Says which router, and whose memory, the decorators below use."""
    _memory.update(router=router, persona=persona)


def auto_cache(function=None, *, ttl=3600, category="general", key=None):
    """Keeps what a function returns for its arguments, for ttl seconds; 0: for ever.

        @auto_cache(ttl=3600, category="schemas")
        def get_schema(self, table): ...

    The key is the function's name and its arguments, without self; `key` gives
    another name, or is called with the arguments. Arguments that are no JSON are
    not cached.
    """
    if function is None:
        return lambda function: auto_cache(function, ttl=ttl, category=category, key=key)

    @functools.wraps(function)
    def cached(*args, **kwargs):
        name = _key_of(function, key, args, kwargs)
        if name is None:
            return function(*args, **kwargs)
        return _router().cached(name, lambda: function(*args, **kwargs), ttl=ttl, category=category, persona=_memory["persona"])

    cached._cache_rule = "auto"
    return cached


def no_cache(function):
    """Marks what cache_slow must leave alone."""
    function._cache_rule = "never"
    return function


def cache_slow(helper):
    """Keeps for an hour what a function, or any public method of a class, took over a
    second for. What has @auto_cache or @no_cache keeps its own rule."""
    if isinstance(helper, type):
        for name, method in list(vars(helper).items()):
            if inspect.isfunction(method) and not name.startswith("_") and not hasattr(method, "_cache_rule"):
                setattr(helper, name, cache_slow(method))
        return helper

    @functools.wraps(helper)
    def timed(*args, **kwargs):
        name = _key_of(helper, None, args, kwargs)
        router, persona = _router(), _memory["persona"]
        if name is not None:
            try:
                return router.call("GET", _fact(persona, name))["value"]
            except (Refused, OSError):
                pass  # it is not there, or nobody knows
        began = time.monotonic()
        value = helper(*args, **kwargs)
        if name is not None and time.monotonic() - began > SLOW and _survives_json(value):
            router.cached(name, lambda: value, ttl=3600, category="slow calls", persona=persona, wait=0)
        return value

    timed._cache_rule = "slow"
    return timed


def _router():
    if _memory["router"] is None:
        _memory["router"] = SkillRouter(agent=os.environ.get("SKILLROUTER_AGENT") or "python")
    return _memory["router"]


def _key_of(function, key, args, kwargs):
    """The key of a call, or None if it cannot have one."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if name not in ("self", "cls")}
        if callable(key):
            return key(*args, **kwargs)
        text = json.dumps(given, sort_keys=True, allow_nan=False)
        if not _survives_json(given):
            return None
    except (TypeError, ValueError, RecursionError):
        return None
    name = key or f"{function.__module__}.{function.__qualname__}"
    text = f"{name}{text}" if given else name
    return text if len(text.encode()) <= 400 else f"{name[:300]}#{hashlib.sha256(text.encode()).hexdigest()}"


def _survives_json(value):
    """Whether a value comes back from JSON as it went in: tuples and keys that are no texts do not."""
    try:
        return _same(value, json.loads(json.dumps(value, allow_nan=False)))
    except (TypeError, ValueError, RecursionError):
        return False


def _same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return a == b


def _fact(persona, key):
    return "/api/facts/" + urllib.parse.quote(persona, safe="") + "/" + urllib.parse.quote(key, safe="")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: skillrouter_client.py AGENT")
    try:
        for received in SkillRouter(agent=sys.argv[1]).messages():
            print(json.dumps(received), flush=True)
    except KeyboardInterrupt:
        pass
