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

The address and the token come from SKILLROUTER_SERVER and SKILLROUTER_TOKEN if
they are not given. Run as a program it prints the agent's messages.
"""

import json
import os
import random
import sys
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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: skillrouter_client.py AGENT")
    try:
        for received in SkillRouter(agent=sys.argv[1]).messages():
            print(json.dumps(received), flush=True)
    except KeyboardInterrupt:
        pass
