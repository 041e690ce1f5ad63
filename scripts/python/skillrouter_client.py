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

    @auto_cache(ttl=3600, category="schemas")   # computed once an hour, and kept for the whole team
    def get_schema(table): ...

The address and the token come from SKILLROUTER_SERVER and SKILLROUTER_TOKEN if
they are not given. Run as a program it prints the agent's messages.
"""

import asyncio
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
import weakref


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
        """Keeps a value under a key for ttl seconds, 0 for ever. Fields: probe, source, if_version, exact."""
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

    def cached(self, key, compute, ttl=3600, category="general", persona="default"):
        """The value under key, or what compute() returns, which is kept. Of this process's
        threads one computes and the others wait. None, a value that JSON would change, that
        holds a secret or is too large is not kept, and without a router everyone computes."""
        with _alone(threading.Lock, persona, key):
            found = self._kept(key, persona)
            if found is None:
                value = compute()
                self._keep(key, value, ttl, category, persona)
                return value
        return found[0]

    async def cached_async(self, key, compute, ttl=3600, category="general", persona="default"):
        """The same for a compute() that is awaited. The router is called in other threads."""
        async with _alone(asyncio.Lock, id(asyncio.get_running_loop()), persona, key):
            found = await asyncio.to_thread(self._kept, key, persona)
            if found is None:
                value = await compute()
                await asyncio.to_thread(self._keep, key, value, ttl, category, persona)
                return value
        return found[0]

    def _kept(self, key, persona):
        """A list of the value under a key; None if there is none, or no telling."""
        try:
            return [self.call("GET", _fact(persona, key))["value"]]
        except (Refused, OSError):
            return None

    def _keep(self, key, value, ttl, category, persona):
        if value is not None and _survives_json(value):
            try:
                self.remember_fact(key, value, ttl, category, persona, exact=True)
            except (Refused, OSError):
                pass  # it holds a secret, is too large, or the router is away

    def remember_episode(self, event, context, learned=None, persona="default", **fields):
        """Keeps what happened: a name, a dict of what was seen and done, and what is to be learned. Fields: project."""
        return self.tool("remember_episode", event=event, context=context, learned=learned, persona=persona, **fields)

    def recall_episodes(self, query, time_range=None, limit=5, persona="default"):
        """Past episodes that are like this, best first. time_range is "7d" or "2026-01-01..2026-02-01".
        Each is a dict of its context's members, and of event, learned, timestamp, context and more."""
        return [_episode(e) for e in self.tool("recall_episodes", query=query, time_range=time_range, limit=limit, persona=persona)["episodes"]]

    def search_episodes(self, event_type=None, date_range=None, persona="default", **fields):
        """Episodes by the name of their event, and by two dates: texts, or what datetime has. Fields: query, limit, project."""
        if date_range is not None:
            date_range = [_moment(day) for day in date_range]
        return [_episode(e) for e in self.tool("search_episodes", event_type=event_type, date_range=date_range, persona=persona, **fields)["results"]]

    def remember_procedure(self, name, steps, category="general", persona="default", **fields):
        """Keeps steps under a name: dicts of name, description, condition, action, run. Fields: description, params."""
        return self.tool("remember_procedure", name=name, steps=steps, category=category, persona=persona, **fields)

    def recall_procedure(self, name, persona="default"):
        """The procedure under a name, or None."""
        return self.tool("recall_procedure", name=name, persona=persona).get("procedure")

    def list_procedures(self, category=None, persona="default"):
        return self.tool("list_procedures", category=category, persona=persona)["procedures"]

    def execute_procedure(self, name, params=None, persona="default", **fields):
        """Begins a run. The router runs no step: it hands out `next`, and report_step says how that
        went and gets the one after, until there is no `next`. The answer has `run_id` and `status`."""
        return self.tool("execute_procedure", name=name, params=params, persona=persona, **fields)

    def report_step(self, run_id, index, status="succeeded", **fields):
        """Says how a step of a run went: succeeded, failed, skipped or unknown. Fields: result, error, attempt."""
        return self.tool("report_step", run_id=run_id, index=index, status=status, **fields)

    def schedule_task(self, task, trigger, context=None, persona="default", **fields):
        """Something to do later: "time:+1hour", "time:2026-12-24T18:00:00Z", "event:NAME", "condition:EXPRESSION"
        or "cron:0 9 * * MON". Fields: agent_id, recurring, timezone, project."""
        return self.tool("schedule_task", task=task, trigger=trigger, context=context, persona=persona, **fields)

    def get_pending_tasks(self, persona="default"):
        """What is due."""
        return self.tool("get_pending_tasks", persona=persona)["tasks"]

    def complete_task(self, task_id, **fields):
        return self.tool("complete_task", task_id=task_id, **fields)

    def cancel_task(self, task_id, **fields):
        return self.tool("cancel_task", task_id=task_id, **fields)

    def list_memory_categories(self, persona="default"):
        return self.tool("list_memory_categories", persona=persona)["categories"]

    def memory_stats(self, persona=None):
        """Counts and bytes of each type of memory, under `types`; of everybody without a persona."""
        return self.tool("memory_stats", persona=persona)

    def clear_memory(self, category=None, confirm=False, persona="default", **fields):
        """Deletes what a persona remembers. Without confirm it only says what it would delete. Fields: type."""
        return self.tool("clear_memory", category=category, confirm=confirm, persona=persona, **fields)

    def build_context(self, task, budget=2000, persona="default", **fields):
        """What an agent should know for a task, as `text` of at most budget tokens. Fields: project, include_untrusted."""
        return self.call("POST", "/api/context", {"task": task, "budget": budget, "persona": persona, "agent_id": self.agent, **fields})

    def tool(self, name, /, **arguments):
        """Calls a tool of the router by its name; GET /api/tools lists them. Arguments that are None are left out."""
        arguments = {k: v for k, v in arguments.items() if v is not None}
        return self.call("POST", "/api/tools/" + urllib.parse.quote(name, safe=""), {"arguments": arguments})["result"]

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


_locks, _locking = weakref.WeakValueDictionary(), threading.Lock()


def _alone(kind, *name):
    """The lock of that name and kind. It goes when nobody holds or awaits it any more."""
    with _locking:
        return _locks.setdefault((kind,) + name, kind())


SLOW = 1.0  # seconds from which on a call of a helper is worth keeping
_memory = {"router": None, "persona": "default"}


def use_memory(router, persona="default"):
    """Says which router, and whose memory, the helpers and decorators below use."""
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

    def rule(args, kwargs):
        return dict(ttl=ttl, category=category, persona=_memory["persona"]), _key_of(function, key, args, kwargs)

    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def cached(*args, **kwargs):
            how, name = rule(args, kwargs)
            if name is None:
                return await function(*args, **kwargs)
            return await _router().cached_async(name, lambda: function(*args, **kwargs), **how)
    else:
        @functools.wraps(function)
        def cached(*args, **kwargs):
            how, name = rule(args, kwargs)
            if name is None:
                return function(*args, **kwargs)
            return _router().cached(name, lambda: function(*args, **kwargs), **how)

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
        for name, member in list(vars(helper).items()):
            method = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
            if inspect.isfunction(method) and not name.startswith("_") and not hasattr(method, "_cache_rule"):
                slow = cache_slow(method)
                setattr(helper, name, slow if method is member else type(member)(slow))
        return helper

    def known(name):
        return _router()._kept(name, _memory["persona"])

    def keep(name, value, took):
        if took > SLOW:
            _router()._keep(name, value, 3600, "slow calls", _memory["persona"])

    if inspect.iscoroutinefunction(helper):
        @functools.wraps(helper)
        async def timed(*args, **kwargs):
            name = _key_of(helper, None, args, kwargs)
            fact = name and await asyncio.to_thread(known, name)
            if fact:
                return fact[0]
            began = time.monotonic()
            value = await helper(*args, **kwargs)
            if name:
                await asyncio.to_thread(keep, name, value, time.monotonic() - began)
            return value
    else:
        @functools.wraps(helper)
        def timed(*args, **kwargs):
            name = _key_of(helper, None, args, kwargs)
            fact = name and known(name)
            if fact:
                return fact[0]
            began = time.monotonic()
            value = helper(*args, **kwargs)
            if name:
                keep(name, value, time.monotonic() - began)
            return value

    timed._cache_rule = "slow"
    return timed


def _helper(method):
    """The method as a function of its own, of the router and persona that use_memory names."""
    signature = inspect.signature(method)
    shared = "persona" in signature.parameters and signature.parameters["persona"].default == "default"

    @functools.wraps(method)
    def helper(*args, **kwargs):
        router = _router()
        if shared and "persona" not in signature.bind(router, *args, **kwargs).arguments:
            kwargs["persona"] = _memory["persona"]
        return method(router, *args, **kwargs)

    helper._cache_rule = "never"
    return helper


# The persona memory's helpers, to be called as they are: recall_fact("database.orders.schema").
remember_fact, recall_fact, search_facts, update_fact = map(
    _helper, (SkillRouter.remember_fact, SkillRouter.recall_fact, SkillRouter.search_facts, SkillRouter.update_fact))
remember_episode, recall_episodes, search_episodes = map(
    _helper, (SkillRouter.remember_episode, SkillRouter.recall_episodes, SkillRouter.search_episodes))
remember_procedure, recall_procedure, list_procedures, execute_procedure, report_step = map(
    _helper, (SkillRouter.remember_procedure, SkillRouter.recall_procedure, SkillRouter.list_procedures, SkillRouter.execute_procedure, SkillRouter.report_step))
schedule_task, get_pending_tasks, complete_task, cancel_task = map(
    _helper, (SkillRouter.schedule_task, SkillRouter.get_pending_tasks, SkillRouter.complete_task, SkillRouter.cancel_task))
list_memory_categories, memory_stats, clear_memory, build_context = map(
    _helper, (SkillRouter.list_memory_categories, SkillRouter.memory_stats, SkillRouter.clear_memory, SkillRouter.build_context))


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


def _episode(found):
    """An episode as the persona's memory shows it: its context's members stand beside its own fields."""
    return {**(found.get("context") or {}), **found, "timestamp": found["created_at"]}


def _moment(day):
    return day.isoformat() if hasattr(day, "isoformat") else day


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
