"""Report lessons to Skill Router, and ask it before acting. Standard library only.

Asynchronously, as the agents of MNEMOSYNE do:

    from lesson_reporter import LessonReporter

    reporter = LessonReporter("CHRONOS")
    await reporter.failure(
        title="PostgreSQL permission denied on /var/lib/postgresql/data",
        context="Running backup after container restart",
        action_taken="Attempted to run pg_dump",
        outcome="Permission denied error",
        root_cause="Container UID mismatch after postgres upgrade",
        solution="Run: docker exec <container> chown -R postgres:postgres /var/lib/postgresql/data",
        tags=["docker", "postgres", "permissions"],
    )
    result = await reporter.check_before_action("docker exec -it container rm -rf /data", context="Cleaning up old data")
    if result.blocked:                      # or result["blocked"], or result.get("blocked")
        print(f"BLOCKED: {result.warnings}; instead: {result.alternatives}")

Without await, by the same methods of reporter.sync, or of LessonReporterSync("CHRONOS"):

    reporter.sync.success(title="...", context="...", action_taken="...", outcome="...")

Environment:

    MNEMOSYNE_URL      the router's address; http://localhost:8025 if it is not set
    LEARNING_ENABLED   anything but "true" reports nothing; checks and questions still go out
    SKILLROUTER_TOKEN  sent as a bearer token, once the router wants one

Nothing here raises into the agent that uses it: what goes wrong is printed on
standard error (an agent's standard output may be a protocol) and returned as
{"status": "error", "error": ...}; of a check as one that blocks nothing and warns of it.

Python 3.9 or later.
"""

import asyncio
import ipaddress
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, List, Optional, Union

REPORT_TIMEOUT = 10.0  # seconds
ASK_TIMEOUT = 5.0  # seconds, of what an agent waits for before it acts
MAX_ANSWER = 64 << 20  # bytes that are read of an answer

DOMAINS = {
    "CHRONOS": "infrastructure",
    "HADES": "infrastructure",
    "AEGIS": "security",
    "HERMES": "notifications",
    "ARGUS": "monitoring",
    "PANOPTES": "security",
    "ASCLEPIUS": "health",
    "SCHOLAR": "research",
    "CHIRON": "business",
    "CONSUL": "project_management",
    "DAEDALUS": "infrastructure",
    "MUSE": "creative",
    "QUILL": "creative",
    "STAGE": "creative",
    "REEL": "creative",
    "CRITIC": "creative",
    "VARYS": "oversight",
    "ARIA": "assistant",
    "CLAUDE_CODE": "development",
}

LESSON_TYPES = ("success", "failure", "workaround", "discovery", "optimization", "warning", "anti_pattern")


class CheckResult(dict):
    """The answer to check_before_action: a dict whose items are attributes too."""

    ABSENT = {"blocked": False, "matching_patterns": [], "alternatives": [], "warnings": [], "check_id": "", "decision": ""}

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        for name, value in self.ABSENT.items():
            self.setdefault(name, list(value) if isinstance(value, list) else value)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The router redirects nowhere: whoever does must not be handed the token."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class LessonReporterSync:
    """Reports lessons and asks for them, without await."""

    def __init__(self, agent_name: str):
        self.agent_name = agent_name
        self.mnemosyne_url = os.environ.get("MNEMOSYNE_URL", "http://localhost:8025")
        self.enabled = os.environ.get("LEARNING_ENABLED", "true").lower() == "true"
        self.token = os.environ.get("SKILLROUTER_TOKEN", "")
        self.domain = self._infer_domain()

    def _infer_domain(self) -> str:
        return DOMAINS.get(self.agent_name, "general")

    def _say(self, what: str) -> None:
        try:
            print(f"[{self.agent_name}] {what}", file=sys.stderr)
        except Exception:  # a closed stderr is no reason to fail
            pass

    def _post(self, path: str, body: Dict[str, Any], timeout: float) -> Any:
        """Posts a body and returns the answer's JSON. Raises on every failure."""
        url = self.mnemosyne_url.rstrip("/") + path
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"MNEMOSYNE_URL must be an http or https address, and is {self.mnemosyne_url!r}")
        handlers: List[Any] = [_NoRedirect()]
        if _loopback(parts.hostname):
            handlers.append(urllib.request.ProxyHandler({}))  # no proxy stands between two programs of one machine
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        text = json.dumps(body, allow_nan=False).encode()
        request = urllib.request.Request(url, data=text, headers=headers, method="POST")
        try:
            with urllib.request.build_opener(*handlers).open(request, timeout=timeout) as answer:
                raw = answer.read(MAX_ANSWER + 1)
        except urllib.error.HTTPError as refusal:
            with refusal:
                raise RuntimeError(_problem(refusal)) from None
        if len(raw) > MAX_ANSWER:
            raise ValueError(f"the answer is longer than {MAX_ANSWER} bytes")
        return json.loads(raw)

    def _report(self, lesson: Dict[str, Any]) -> Dict[str, Any]:
        if not self.enabled:
            return {"status": "disabled"}
        try:
            return self._post("/lessons/report", lesson, REPORT_TIMEOUT)
        except Exception as e:
            self._say(f"Failed to report lesson: {e}")
            return {"status": "error", "error": str(e)}

    def report(
        self,
        lesson_type: str,
        title: str,
        context: str,
        action_taken: str,
        outcome: str,
        category: Optional[str] = None,
        **fields: Any,
    ) -> Dict[str, Any]:
        """Report a lesson of any type, with any other field that a lesson has."""
        return self._report({
            "lesson_type": lesson_type,
            "domain": self.domain,
            "category": category or self.domain,
            "title": title,
            "context": context,
            "action_taken": action_taken,
            "outcome": outcome,
            "source_agent": self.agent_name,
            **fields,
        })

    def success(
        self,
        title: str,
        context: str,
        action_taken: str,
        outcome: str,
        tags: List[str] = [],
        category: Optional[str] = None,
        confidence: float = 0.9,
    ) -> Dict[str, Any]:
        """Report a successful approach."""
        return self.report(
            "success", title, context, action_taken, outcome, category,
            severity="medium", tags=list(tags or []), confidence=confidence,
        )

    def failure(
        self,
        title: str,
        context: str,
        action_taken: str,
        outcome: str,
        root_cause: Optional[str] = None,
        solution: Optional[str] = None,
        alternatives: List[str] = [],
        tags: List[str] = [],
        category: Optional[str] = None,
        severity: str = "medium",
        related_commands: List[str] = [],
    ) -> Dict[str, Any]:
        """Report a failure and what was learned."""
        return self.report(
            "failure", title, context, action_taken, outcome, category,
            root_cause=root_cause, solution=solution, alternatives=list(alternatives or []), severity=severity,
            tags=list(tags or []), related_commands=list(related_commands or []), confidence=0.8,
        )

    def anti_pattern(
        self,
        title: str,
        why_bad: str,
        example: str,
        alternatives: List[str],
        severity: str = "high",
        tags: List[str] = [],
        category: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Report something that should never be done; example is the command that does it."""
        return self.report(
            "anti_pattern", title, why_bad, example, "BLOCKED - Known anti-pattern", category,
            alternatives=list(alternatives or []), severity=severity, tags=list(tags or []) + ["anti-pattern", "blocked"], confidence=1.0,
        )

    def workaround(
        self,
        title: str,
        problem: str,
        workaround: str,
        permanent_fix: Optional[str] = None,
        tags: List[str] = [],
        category: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Report a workaround for a known issue."""
        return self.report(
            "workaround", title, problem, workaround, "Issue mitigated", category,
            solution=permanent_fix, severity="medium", tags=list(tags or []) + ["workaround"], confidence=0.85,
        )

    def discovery(
        self,
        title: str,
        context: str,
        discovery: str,
        implications: List[str] = [],
        tags: List[str] = [],
        category: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Report a new discovery or insight."""
        return self.report(
            "discovery", title, context, "Investigation/observation", discovery, category,
            alternatives=list(implications or []), severity="medium", tags=list(tags or []) + ["discovery"], confidence=0.7,
        )

    def check_before_action(self, proposed_action: str, context: str = "") -> CheckResult:
        """Check whether a proposed action matches known anti-patterns. Call this before risky actions."""
        try:
            return CheckResult(self._post("/check/anti-pattern", {
                "proposed_action": proposed_action,
                "context": context,
                "domain": self.domain,
                "agent": self.agent_name,
            }, ASK_TIMEOUT))
        except Exception as e:
            self._say(f"Anti-pattern check failed: {e}")
            return CheckResult(blocked=False, warnings=["Check failed - proceed with caution"])

    def check_outcome(
        self,
        check: Union[CheckResult, str],
        outcome: str,
        result: Optional[str] = None,
        notes: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Say what was done after a check, which is its result or its check_id.

        outcome is "heeded" or "overridden"; result is how it went: "success",
        "failure" or "partial". Rules that are overridden with success lose confidence.
        """
        check_id = check if isinstance(check, str) else check.get("check_id", "")
        if not check_id:
            return {"status": "error", "error": "the check has no check_id: it did not reach the router"}
        try:
            return self._post("/check/outcome", {
                "check_id": check_id,
                "outcome": outcome,
                "result": result,
                "notes": notes,
                "agent": self.agent_name,
            }, ASK_TIMEOUT)
        except Exception as e:
            self._say(f"Failed to report the outcome of a check: {e}")
            return {"status": "error", "error": str(e)}

    def get_relevant_lessons(self, context: str, max_results: int = 10) -> List[Dict]:
        """Get the lessons relevant to the current task, best first."""
        try:
            return self._post("/query/relevant", {
                "context": context,
                "domain": self.domain,
                "agent": self.agent_name,
                "max_results": max_results,
            }, ASK_TIMEOUT)
        except Exception as e:
            self._say(f"Failed to get lessons: {e}")
            return []


def _setting(name: str) -> property:
    """A setting that both views of a reporter share."""
    return property(lambda self: getattr(self.sync, name), lambda self, value: setattr(self.sync, name, value))


class LessonReporter:
    """Reports lessons and asks for them, with await. `sync` has the same methods without."""

    agent_name = _setting("agent_name")
    mnemosyne_url = _setting("mnemosyne_url")
    enabled = _setting("enabled")
    token = _setting("token")
    domain = _setting("domain")

    def __init__(self, agent_name: str):
        self.sync = LessonReporterSync(agent_name)

    async def _report(self, lesson: Dict[str, Any]) -> Dict[str, Any]:
        return await asyncio.to_thread(self.sync._report, lesson)

    async def report(
        self,
        lesson_type: str,
        title: str,
        context: str,
        action_taken: str,
        outcome: str,
        category: Optional[str] = None,
        **fields: Any,
    ) -> Dict[str, Any]:
        """Report a lesson of any type, with any other field that a lesson has."""
        return await asyncio.to_thread(
            self.sync.report, lesson_type, title, context, action_taken, outcome, category, **fields)

    async def success(
        self,
        title: str,
        context: str,
        action_taken: str,
        outcome: str,
        tags: List[str] = [],
        category: Optional[str] = None,
        confidence: float = 0.9,
    ) -> Dict[str, Any]:
        """Report a successful approach."""
        return await asyncio.to_thread(self.sync.success, title, context, action_taken, outcome, tags, category, confidence)

    async def failure(
        self,
        title: str,
        context: str,
        action_taken: str,
        outcome: str,
        root_cause: Optional[str] = None,
        solution: Optional[str] = None,
        alternatives: List[str] = [],
        tags: List[str] = [],
        category: Optional[str] = None,
        severity: str = "medium",
        related_commands: List[str] = [],
    ) -> Dict[str, Any]:
        """Report a failure and what was learned."""
        return await asyncio.to_thread(
            self.sync.failure, title, context, action_taken, outcome, root_cause, solution,
            alternatives, tags, category, severity, related_commands)

    async def anti_pattern(
        self,
        title: str,
        why_bad: str,
        example: str,
        alternatives: List[str],
        severity: str = "high",
        tags: List[str] = [],
        category: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Report something that should never be done; example is the command that does it."""
        return await asyncio.to_thread(
            self.sync.anti_pattern, title, why_bad, example, alternatives, severity, tags, category)

    async def workaround(
        self,
        title: str,
        problem: str,
        workaround: str,
        permanent_fix: Optional[str] = None,
        tags: List[str] = [],
        category: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Report a workaround for a known issue."""
        return await asyncio.to_thread(self.sync.workaround, title, problem, workaround, permanent_fix, tags, category)

    async def discovery(
        self,
        title: str,
        context: str,
        discovery: str,
        implications: List[str] = [],
        tags: List[str] = [],
        category: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Report a new discovery or insight."""
        return await asyncio.to_thread(self.sync.discovery, title, context, discovery, implications, tags, category)

    async def check_before_action(self, proposed_action: str, context: str = "") -> CheckResult:
        """Check whether a proposed action matches known anti-patterns. Call this before risky actions."""
        return await asyncio.to_thread(self.sync.check_before_action, proposed_action, context)

    async def check_outcome(
        self,
        check: Union[CheckResult, str],
        outcome: str,
        result: Optional[str] = None,
        notes: Optional[str] = None,
    ) -> Dict[str, Any]:
        """Say what was done after a check; see LessonReporterSync.check_outcome."""
        return await asyncio.to_thread(self.sync.check_outcome, check, outcome, result, notes)

    async def get_relevant_lessons(self, context: str, max_results: int = 10) -> List[Dict]:
        """Get the lessons relevant to the current task, best first."""
        return await asyncio.to_thread(self.sync.get_relevant_lessons, context, max_results)


# What the methods above call some of a lesson's fields.
_SPELLINGS = {
    "why_bad": "context",
    "problem": "context",
    "example": "action_taken",
    "workaround": "action_taken",
    "discovery": "outcome",
    "permanent_fix": "solution",
    "implications": "alternatives",
}

# What a lesson says was done if nobody told.
_DONE = {
    "discovery": "Investigation/observation",
    "warning": "Investigation/observation",
}


def quick_lesson_sync(
    agent: str,
    lesson_type: str,
    title: str,
    context: str,
    outcome: str,
    **kwargs: Any,
) -> Dict[str, Any]:
    """Report one lesson of any type. Whatever else a lesson has may be given, also
    as the methods of LessonReporter call it (why_bad, workaround, permanent_fix, ...).
    An unknown lesson_type is reported as a discovery."""
    if lesson_type not in LESSON_TYPES:
        lesson_type = "discovery"
    fields = {"action_taken": _DONE.get(lesson_type, "Not recorded")}
    for name, value in kwargs.items():
        fields[_SPELLINGS.get(name, name)] = value
    fields = {"context": context, "outcome": outcome, **fields}
    return LessonReporterSync(agent).report(lesson_type, title, **fields)


async def quick_lesson(
    agent: str,
    lesson_type: str,
    title: str,
    context: str,
    outcome: str,
    **kwargs: Any,
) -> Dict[str, Any]:
    """Report one lesson of any type; see quick_lesson_sync."""
    return await asyncio.to_thread(quick_lesson_sync, agent, lesson_type, title, context, outcome, **kwargs)


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _problem(refusal: urllib.error.HTTPError) -> str:
    """What the router says of a refusal, or else the status."""
    try:
        said = json.loads(refusal.read(64 << 10))["error"]
        return f"{said} ({refusal.code})"
    except Exception:
        return f"{refusal.code} {refusal.reason}"
